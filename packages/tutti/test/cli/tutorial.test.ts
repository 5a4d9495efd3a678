// The programs of docs/tutorial.md. `test/agents/tutorial.test.ts` follows the page with the real Claude.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blocksOf, runCommands } from "./tutorial-page.ts";
import { Lab } from "../lab/lab.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

const MAX_LINES = 60;
const [project = ""] = blocksOf("sh");

describe("an example agent of docs/tutorial.md", () => {
  it.for([
    { language: "js", file: "agent.mjs", program: process.execPath },
    { language: "python", file: "agent.py", program: "python3" },
  ] as const)(
    "in $language has at most 60 lines and carries out a run",
    async ({ language, file, program }, context) => {
      const [agent = "", ...others] = blocksOf(language);
      expect(others).toEqual([]);
      expect(agent.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_LINES);
      if (spawnSync(program, ["--version"]).status !== 0) context.skip(`${program} is not installed`);
      writeFileSync(join(lab.folder, file), agent);
      await runCommands(lab, lab.folder, project);
      const command = blocksOf("sh").find((block) => block.includes(file))!;
      const shop = join(lab.folder, "shop");
      const { stdout } = await runCommands(lab, shop, command);
      expect(stdout).toContain("2 planned, 2 completed");
      const { stdout: list } = await runCommands(lab, shop, "tutti list --json");
      const [{ id }] = JSON.parse(list) as [{ id: string }];
      const [, , result = "", look = ""] = blocksOf("sh");
      await runCommands(lab, shop, result.replaceAll("RUN", id));
      const { stdout: shown } = await runCommands(lab, shop, look);
      expect(shown).toContain("# price.js\n\n- The price with tax, in cents.\n");
      expect(readdirSync(join(shop, "docs"))).toEqual(["price.md", "stock.md"]);
      expect(readFileSync(join(shop, "docs/stock.md"), "utf8")).toContain("delivered from stock");
    },
  );
});
