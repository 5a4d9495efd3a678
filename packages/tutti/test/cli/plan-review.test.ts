import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { parseCommentedJson } from "../../src/cli/input/commented-json.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { playUser } from "../lab/terminal.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

const QUESTION = "Carry out this plan? [y/s/e/r/d/q/?] ";
const request = (agent: string, ...more: string[]) =>
  ["--data-dir", lab.data, "run", "x", "--cwd", lab.repo, "--agent", agent].concat(more);
const plan = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c", dependencies: ["b"] }];

/** An editor that runs the `scripts` one after the other, each on the file in `$1`, and keeps the files it was given. */
function editor(...scripts: string[]): void {
  const file = join(lab.folder, "editor.sh");
  const cases = scripts.map((script, i) => `${i + 1}) ${script};;`).join("\n");
  const lines = [
    `cd '${lab.folder}'`,
    "test -t 0 && test -t 1 || exit 1",
    'echo >> calls; n=$(wc -l < calls); cp "$1" "given.$n"',
    `case $n in\n${cases}\nesac`,
  ];
  writeFileSync(file, lines.join("\n"));
  vi.stubEnv("VISUAL", "");
  vi.stubEnv("EDITOR", `sh '${file}'`);
}

describe("the review of a plan on a terminal", () => {
  it("shows estimate, budget, critical path and advice, then skips and edits tasks; mistakes open the editor again", async () => {
    editor(
      `sed -i 's/"Title of c",/"Better c"/' "$1"`,
      `sed -i 's/"Better c"/"Better c",/; s/"priority": 5/"priority": 50/' "$1"`,
      `sed -i 's/"priority": 50/"priority": 5/' "$1"`,
    );
    const agent = lab.scenario([...mainSession(plan), goodWorker]);
    const { code, shown } = await playUser(request(agent, "--max-usd", "7"), [
      [QUESTION, "?"],
      [QUESTION, "d"],
      [QUESTION, "snobody\r"],
      ["The plan has no task nobody", "sa\r"],
      ["These tasks depend on it: b. Start them anyway? [y/n] ", "y"],
      ["a  Title of a  skipped", "e"],
      ['line 27: expected a comma or }, found "description"', ""],
      ["priority must be at most 10", ""],
      ["c  Better c", "y"],
    ]);
    const before = shown.slice(0, shown.indexOf(QUESTION));
    expect(before).toContain("estimate: about 12 minutes, $1.50, 180000 tokens (a guess without earlier tasks)\r\n");
    expect(before).toContain("critical path: a → b → c, about 12 minutes");
    expect(before).toContain("budget: $7");
    // A long line breaks between words.
    expect(before).toMatch(/advice: almost every task depends on another.*\r\n {4}\w/);
    expect(shown).toContain("  q  leave the plan waiting and exit with 4");
    expect(shown).toContain("    Do b\r\n");
    const [first, second] = ["given.1", "given.2"].map((name) => readFileSync(join(lab.folder, name), "utf8"));
    expect(first).toMatch(/^\/\/ The plan of run /);
    expect(parseCommentedJson(first!).value).toMatchObject({ modifications: { a: { skip: true }, c: {} }, added: [] });
    expect(second!.split("\n")[26]).toMatch(/ \/\/ MISTAKE: expected a comma/);
    expect(code).toBe(0);
    expect(shown).toContain("success: 3 planned, 2 completed, 1 skipped");
    const confirmed = lab.events().find(({ type }) => type === "orchestrator:confirmed")!.data;
    expect(confirmed).toMatchObject({ skipped: { a: { satisfied: true } }, tasks: [{}, {}, { title: "Better c" }] });
  });

  it("sends the plan back with words, keeps an unchanged file, and leaves the new plan waiting with exit 4", async () => {
    editor("true");
    const [analysis, second, ...rest] = mainSession(plan);
    const [, first] = mainSession([{ id: "a" }]);
    const turns = [...first!.turns, ...second!.turns];
    const agent = lab.scenario([analysis!, { ...second!, turns }, ...rest, goodWorker]);
    const { code, shown } = await playUser(request(agent), [
      [QUESTION, "rthree tasks\r"],
      ["plan of 3 tasks", ""],
      [QUESTION, "e"],
      ["The plan is not changed.", "q"],
    ]);
    expect(shown).toMatch(/tutti confirm orch_\w+ \[--skip TASK\]/);
    expect(code).toBe(4);
    expect(lab.events().find(({ type }) => type === "orchestrator:changesRequested")!.data).toMatchObject({
      text: "three tasks",
    });
    expect((await lab.json(["list"])).last).toMatchObject([{ status: "confirming" }]);
  });
});

describe("an interrupt while the editor is open", () => {
  it("ends the command and the editor", async () => {
    editor("trap '' INT; echo EDITING; exec sleep 600");
    const agent = lab.scenario([...mainSession(plan), goodWorker]);
    const { code, shown } = await playUser(request(agent), [
      [QUESTION, "e"],
      ["EDITING", "\u0003"],
      ["Stopped. Continue with: tutti attach", ""],
    ]);
    expect(code).toBe(130);
    expect(shown).not.toContain("The plan is not changed.");
  });
});

describe("JSON with comments", () => {
  it("may have trailing commas, and knows the line of every value", () => {
    const { value, lineOf } = parseCommentedJson('// one\n{ /* two */ "a": [1, "//",],\n"b": {"c": null,},\n}\n');
    expect(value).toEqual({ a: [1, "//"], b: { c: null } });
    expect([["a", 1], ["b", "c"], ["b", "new"], []].map((path) => lineOf(path))).toEqual([2, 3, 3, 2]);
  });

  it.each([
    ["{", 1],
    ['{\n"a": 1\n"b": 2}', 3],
    ['{\n"a" 1}', 2],
    ["{\na: 1}", 2],
    ['["open\n]', 1],
    ["{}\n{}", 2],
    ['{"a": 1,\n"a": 2}', 2],
    ["", 1],
  ])("names the line of a mistake: %j", (text, line) => {
    expect(() => parseCommentedJson(text)).toThrow(`line ${line}: expected `);
  });
});
