// The lists for people: `list` and `status` of runs in several states, at several widths.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunRow } from "../../src/cli/access/runs.ts";
import { runLines } from "../../src/cli/terminal/run-lines.ts";
import { cutAtWord, cutPath, wrapText } from "../../src/cli/terminal/text-width.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";
import { InProcessLab } from "./in-process.ts";

let lab: InProcessLab;
beforeEach(() => {
  lab = new InProcessLab();
});
afterEach(() => lab.tearDown());

/** Begins a run, and closes its engine as soon as a worker is at work. */
async function abandonedRun(message: string, agent: string): Promise<string> {
  const local = openLocalEngine({ dataDir: lab.data, ...lab.options });
  const { id } = await local.engine.create({
    templateId: "_default",
    cwd: lab.repo,
    message,
    agent,
    config: { autoSpawn: true },
  });
  await local.engine.order(id, "start");
  await local.engine.until(id, ({ workers }) => workers["a"]?.status === "running");
  await local.close();
  return id;
}

const hanging = () => lab.scenario([...mainSession([{ id: "a" }]), worker("a", { say: "hm", then: "hang" })]);

describe("tutti list and status", () => {
  it("show what each run is about, newest first, and call a run interrupted that no process works on", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, usd: 0.25 };
    const costly = worker("*", { write: { "a.md": "a" }, usage, block: done({}) });
    const agent = lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), costly]);
    const { last: first } = await lab.json(["run", "The first request", "--yes", "--cwd", lab.repo, "--agent", agent]);
    const id = await abandonedRun("The second request", hanging());

    const { stdout } = await lab.tutti(["list"]);
    const lines = stdout.trimEnd().split("\n");
    // A slow machine needs some minutes.
    const age = "(?:just now|\\d+ min ago)";
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${id}  interrupted  0/1 tasks         script:\\S+ +${age} +\\S+$`)),
      "  The second request",
      `  No process works on it. Continue it with "tutti attach ${id}".`,
      expect.stringMatching(new RegExp(`^${first.id}  success      2/2 tasks  \\$0.50  script:\\S+ +${age} +\\S+$`)),
      "  The first request",
    ]);
    const rows = (await lab.json(["list"])).last as unknown as object[];
    expect(rows).toMatchObject([{ id: first.id }, { id, interrupted: true, next: `tutti attach ${id}` }]);
    expect(rows[0]).not.toHaveProperty("interrupted");
    const shown = await lab.tutti(["status", id]);
    expect(shown.stdout).toContain(`Continue it with "tutti attach ${id}".`);
    expect((await lab.json(["status", id])).last).toMatchObject({
      status: "running",
      interrupted: true,
      next: `tutti attach ${id}`,
    });
    // While another process has the folder, the run stays interrupted until that process works on it.
    const local = openLocalEngine({ dataDir: lab.data, ...lab.options });
    try {
      expect((await lab.json(["status", id])).last).toMatchObject({ interrupted: true });
      await local.engine.activate(id);
      await local.engine.until(id, ({ workers }) => workers["a"]!.attempt === 2);
      expect((await lab.json(["status", id])).last).not.toHaveProperty("interrupted");
    } finally {
      await local.close();
    }
  });

  it("do not call a run interrupted that waits for the user", async () => {
    const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    expect((await lab.json(["run", "x", "--cwd", lab.repo, "--agent", agent])).code).toBe(4);
    const [row] = (await lab.json(["list"])).last as unknown as { id: string }[];
    expect(row).not.toHaveProperty("interrupted");
    await lab.json(["pause", row!.id]);
    expect((await lab.json(["status", row!.id])).last).not.toHaveProperty("interrupted");
  });

  it("are cut to the width of the terminal between words", async () => {
    const request = "Describe every module of this repository in one page per module";
    await lab.json(["run", `"${request}"`, "--yes", "--cwd", lab.repo, "--agent", "local"]);
    const printed = async (...args: string[]) => {
      const child = onTerminal(["--data-dir", lab.data, ...args], 60);
      let shown = "";
      child.stdout.on("data", (text: string) => (shown += text));
      await once(child, "close");
      const lines = shown.trimEnd().split(/\r?\n/);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
      return lines;
    };
    const list = await printed("list");
    expect(list).toHaveLength(2);
    expect(list[1]).toBe('  "Describe every module of this repository in one page per…');
    const id = list[0]!.split(" ")[0]!;
    expect((await printed("status", id)).slice(-3)).toEqual([
      `Look at it with "tutti diff ${id}", take it`,
      `    with "tutti merge ${id}", or remove it with`,
      `    "tutti drop ${id}".`,
    ]);
  });
});

describe("text", () => {
  it("is cut after a whole word, a path before a whole folder, and wrapped between words", () => {
    expect(cutAtWord("one two three", 13)).toBe("one two three");
    expect(cutAtWord("one two three", 10)).toBe("one two…");
    expect(cutAtWord("one two three", 8)).toBe("one two…");
    expect(cutAtWord("unbreakable", 6)).toBe("unbre…");
    expect(cutPath("/home/a/source/project", 16)).toBe("…/source/project");
    expect(cutPath("/home/a/project", 5)).toBe("proj…");
    expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapText("one two", Number.POSITIVE_INFINITY)).toEqual(["one two"]);
    expect(wrapText('Look with "tutti diff 01AB", or (tutti drop 01AB, now)', 12)).toEqual([
      "Look with",
      '"tutti diff 01AB",',
      "or",
      "(tutti drop 01AB,",
      "now)",
    ]);
  });

  it("of a run keeps its columns under each other at every width", () => {
    const row = (id: string, agent: string, ageMs: number): RunRow => ({
      id,
      agent,
      status: "running",
      outcome: null,
      templateId: "_default",
      cwd: "/srv/projects/execa",
      userRequest: "x",
      taskCount: 3,
      completedTasks: 1,
      skippedTasks: 1,
      usage: { inputTokens: 0, outputTokens: 0, usd: 0 },
      createdAt: -ageMs,
      updatedAt: 0,
    });
    const rows = [row("orch_a", "claude", 90_000), row("orch_bcd", "local", 50 * 3_600_000)];
    expect(runLines(rows, 0, 80)).toEqual([
      "orch_a    running  1/2 tasks  claude  1 min ago   /srv/projects/execa",
      "orch_bcd  running  1/2 tasks  local   2 days ago  /srv/projects/execa",
    ]);
    for (const columns of [40, 55, 60]) {
      for (const line of runLines(rows, 0, columns)) expect(line.length).toBeLessThanOrEqual(columns);
    }
    expect(runLines(rows, 0, 58)[0]).toMatch(/…\/execa$/);
  });
});
