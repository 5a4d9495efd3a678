// Taking the result of a run: `tutti diff`.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessLab } from "./in-process.ts";
import { finished } from "../lab/lab.ts";
import { paintPatch } from "../../src/cli/terminal/paint-patch.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

/** Returns the id of an ended run. */
async function carriedOut(sessions: object[] = [...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]) {
  const { last } = await lab.json(["run", "do it", "--cwd", lab.repo, "--agent", lab.scenario(sessions), "--yes"]);
  return last.id!;
}

describe("tutti diff", () => {
  it("prints what git prints for a run and for a task, and the counts of lines as JSON", async () => {
    const id = await carriedOut();
    const base = lab.git("rev-parse", "HEAD");
    const head = lab.git("rev-parse", `tutti/${id}`);
    const whole = await lab.tutti(["diff", id]);
    expect([whole.code, whole.stdout]).toEqual([0, `${lab.git("diff", base, head)}\n`]);
    const short = await lab.tutti(["diff", id, "--stat"]);
    expect(short.stdout.trim()).toBe(lab.git("diff", "--stat", base, head).trim());
    expect((await lab.json(["diff", id])).lines).toEqual([
      {
        base,
        head,
        files: [
          { path: "docs/one.md", status: "added", additions: 1, deletions: 0 },
          { path: "docs/two.md", status: "added", additions: 1, deletions: 0 },
        ],
      },
    ]);
    expect((await lab.json(["diff", id, "two"])).lines).toEqual([
      {
        base,
        head: lab.git("rev-parse", `refs/tutti/${id}/two/1`),
        files: [{ path: "docs/two.md", status: "added", additions: 1, deletions: 0 }],
      },
    ]);
    expect(await lab.json(["diff", id, "three"])).toMatchObject({
      code: 3,
      last: { error: { code: "task_not_found" } },
    });
  });

  it("shows the work of a failed task, and says when there is none", async () => {
    const failure = { phase: "completion", data: { task_id: "{TASK_ID}", status: "failed", error: "no luck" } };
    const plan = mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]);
    const id = await carriedOut([
      ...plan,
      worker("*", { tools: ["Write"], write: { "half.md": "half\n" }, block: failure }),
    ]);
    expect((await lab.json(["diff", id, "one"])).last).toMatchObject({ files: [{ path: "half.md" }] });
    const { code, stderr } = await lab.tutti(["diff", id, "two"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`Task "two" of run "${id}" has no result yet.`)]);
  });

  it("can be applied with git, and works while a run is under way", async () => {
    const gate = lab.gate();
    const plan = mainSession([{ id: "one" }, { id: "two", dependencies: ["one"] }]);
    const waits = worker("two", { waitForFile: gate.file, block: done({}) });
    const one = worker("one", { tools: ["Write"], write: { "a\tb.md": "\u001b[31mred\n" }, block: done({}) });
    const agent = lab.scenario([...plan, one, waits]);
    const running = finished(lab.start(["run", "do it", "--cwd", lab.repo, "--agent", agent, "--yes", "--quiet"]));
    const diff = async () => {
      const [row] = JSON.parse((await lab.tutti(["--json", "list"])).stdout) as { id: string }[];
      return row ? await lab.tutti(["diff", row.id]) : { stdout: "" };
    };
    await expect.poll(async () => (await diff()).stdout, { timeout: 60_000 }).toContain("+\u001b[31mred");
    const { stdout } = await diff();
    expect(spawnSync("git", ["apply"], { cwd: lab.repo, input: stdout, encoding: "utf8" }).stderr).toBe("");
    expect(readFileSync(join(lab.repo, "a\tb.md"), "utf8")).toBe("\u001b[31mred\n");
    gate.open();
    expect((await running).stdout).toContain("1 completed");
  });

  it("shows control characters of agents on a terminal instead of sending them", () => {
    const painted = paintPatch("+a\u001b[2J\tb\u202e\n context", (colour, text) => `<${colour}>${text}`);
    expect(painted).toBe("<green>+a^[[2J\tb\ufffd\n context");
  });
});
