// Excerpts in eleven languages, each with the traps of real code, and the facts that a reader must find in them. The
// facts in `expected.txt` were checked by hand against the excerpts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readModule } from "../src/languages/read-module.ts";
import { languageOf } from "../src/read/classify.ts";
import type { ModuleFacts } from "../src/read/facts.ts";

const FOLDER = join(import.meta.dirname, "fixtures/corpus");
const expected = new Map(
  readFileSync(join(FOLDER, "expected.txt"), "utf8")
    .split(/^=== /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1).trim()] as const),
);

describe("the facts of an excerpt", () => {
  test.each([...expected.keys()])("are found in %s", async (name) => {
    const text = readFileSync(join(FOLDER, name), "utf8");
    const facts = await readModule(name, languageOf(name)!, text);
    expect(describeFacts(facts)).toBe(expected.get(name));
    const lines = text.split("\n");
    for (const entry of facts.exports) {
      for (const { name: declared, line } of [entry, ...entry.members])
        expect(lines[line - 1]).toContain(declared.split(/::|\./).at(-1));
    }
  });

  test("are expected for every excerpt, in at least eight languages", () => {
    const files = readdirSync(FOLDER).filter((name) => name !== "expected.txt");
    expect([...expected.keys()].toSorted()).toEqual(files.toSorted());
    expect(new Set(files.map(languageOf)).size).toBeGreaterThanOrEqual(8);
  });
});

function describeFacts(facts: ModuleFacts): string {
  const show = (text: string): string => JSON.stringify(text).slice(1, -1);
  const words = (doc: string): string => (doc === "" ? "" : `\n    ${show(doc)}`);
  const owned = facts.ownedMembers.map(
    ({ owner, name, line, signature, doc }) => `method ${owner}.${name}:${line} ${show(signature)}${words(doc)}`,
  );
  const names = facts.exports.flatMap((entry) => [
    `${entry.kind} ${entry.name}:${entry.line} ${show(entry.signature)}${words(entry.doc)}`,
    ...entry.members.map(({ name, line, signature, doc }) => `  ${name}:${line} ${show(signature)}${words(doc)}`),
  ]);
  const imports = facts.imports.map(({ from, names: list }) => {
    const locals = list.map(({ imported, local }) => (imported === local ? local : `${imported} as ${local}`));
    return `import ${from}${locals.length > 0 ? `: ${locals.join(", ")}` : ""}`;
  });
  const reExports = facts.reExports.map(({ name, imported, from }) => `re-export ${imported} as ${name} from ${from}`);
  const marks = [
    facts.isProgram ? "program" : "",
    facts.namespace === "" ? "" : `namespace ${facts.namespace}`,
    facts.condition === "" ? "" : `if ${facts.condition}`,
    facts.header === "" ? "" : `header ${show(facts.header)}`,
  ];
  return [...marks.filter(Boolean), ...names, ...owned, ...imports, ...reExports].join("\n").replaceAll(/ +$/gm, "");
}
