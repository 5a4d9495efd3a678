// Checks the table of mutants. `npm run mutants` shows that the tests detect them.
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { describe, expect, it } from "vitest";
import { citationsIn, readCitations } from "./citations.ts";
import { mutate } from "./mutant.ts";
import { MUTANTS } from "./table.ts";

const PACKAGES = new URL("../../../", import.meta.url);
const TESTS = new URL("..", import.meta.url).pathname;

describe("the table of mutants", () => {
  it("changes text that occurs once in its file, into code that can be parsed", () => {
    for (const mutant of MUTANTS) {
      const changed = mutate(readFileSync(new URL(mutant.file, PACKAGES), "utf8"), mutant);
      if (mutant.file.endsWith(".ts")) stripTypeScriptTypes(changed);
      if (mutant.file.endsWith(".json")) JSON.parse(changed);
    }
  });

  it("has a change for every row that a test cites, and for no other", () => {
    // The tests of real agent programs run separately, on programs that Tutti does not own.
    const cited = readCitations(TESTS).filter(({ file }) => !file.startsWith("agents/"));
    const rows = new Set(MUTANTS.flatMap((mutant) => mutant.rows));
    expect([...rows].toSorted()).toEqual([...new Set(cited.map(({ row }) => row))].toSorted());
  });
});

describe("citations", () => {
  it("are read from titles only, one by one and as ranges", () => {
    const text = `// D4-001\nit("does a thing (D4-002, D4-003/E12)", () => {});\ntest.each([1])('%s (D4-007..D4-009)', f);`;
    expect(citationsIn(text)).toEqual([
      { row: "D4-002", spelling: "D4-002" },
      { row: "D4-003", spelling: "D4-003" },
      { row: "D4-007", spelling: "D4-007..D4-009" },
      { row: "D4-008", spelling: "D4-007..D4-009" },
      { row: "D4-009", spelling: "D4-007..D4-009" },
    ]);
  });
});
