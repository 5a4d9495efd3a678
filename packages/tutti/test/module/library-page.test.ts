// Runs each example of docs/library.md as a separate program, like a reader would.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Lab } from "../lab/lab.ts";

const PAGE = new URL("../../../../docs/library.md", import.meta.url);
const LIBRARY = new URL("../../src/index.ts", import.meta.url).href;
const examples = Array.from(readFileSync(PAGE, "utf8").matchAll(/```ts\n([\s\S]*?)```/g), ([, text]) => text!);

let lab: Lab;
beforeEach(() => {
  lab = new Lab({ "package.json": '{ "name": "small" }\n', "lib/add.js": "export const add = (a, b) => a + b;\n" });
});
afterEach(() => lab.tearDown());

/** Returns the output of the example, which has to end by itself. */
async function play(example: string): Promise<string[]> {
  const file = join(lab.folder, "example.mts");
  writeFileSync(file, example.replaceAll('from "tutti"', `from ${JSON.stringify(LIBRARY)}`));
  const env = { ...process.env, TUTTI_DATA_DIR: lab.data };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: lab.repo, env });
  return stdout.trim().split("\n");
}

describe("the examples of docs/library.md", () => {
  it("are all covered by these tests", () => {
    expect(examples).toHaveLength(3);
  });

  it("complete a run from its plan to its outcome", async () => {
    const [planned, queued, outcome] = await play(examples[0]!);
    expect(planned).toMatch(/^\d+ tasks?$/);
    expect(queued).toMatch(/^\d+ to be carried out$/);
    expect(outcome).toBe("outcome: success");
    expect(lab.leftovers()).toEqual([]);
  });

  it("register a hook and an agent of the program", async () => {
    const lines = await play(examples[1]!);
    expect(new Set(lines)).toEqual(new Set(["hook: worker:completed, completed"]));
  });

  it("return the result of a sub-session of a controller", async () => {
    expect(await play(examples[2]!)).toEqual(["returned 18 characters", "Result: It is in parse.ts."]);
  });
});
