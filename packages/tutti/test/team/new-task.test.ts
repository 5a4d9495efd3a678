// Workers that answer with blocks or tools delegate with the tool `new_task`, under real keepers.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "../engine/engine-lab.ts";
import { agentOf } from "../lab/lab.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

const AGENT = agentOf("command", "tool-user.ts", "--delegating");
let lab: EngineLab;
beforeAll(() => {
  lab = new EngineLab();
});
afterAll(async () => {
  for (const each of lab.engines) await each.close();
  lab.tearDown();
});

describe("the tool new_task", () => {
  it("delegates the request and its parts in a team, whose sessions also report with tools", async () => {
    const engine = lab.open();
    const run = await untilOver(engine, await lab.begin(engine, AGENT, { templateId: "modes" }));
    expect(run).toMatchObject({ status: "completed", outcome: "success", leadReport: { summary: "all is well" } });
    const messages = run.teamMessages!.map(({ type, from, to, taskId, state }) =>
      [type, from, to, taskId, state].join(" "),
    );
    expect(new Set(messages)).toEqual(
      new Set([
        "new_task orchestrator architect a acted",
        "new_task architect code a-1 acted",
        "attempt_completion code architect a-1 acted",
        "attempt_completion architect orchestrator a acted",
      ]),
    );
    expect(messages).toHaveLength(4);
  });

  it("starts tasks from the worker's folder, and returns each result once, over a restart of the engine", async () => {
    const disk = newMemoryDisk();
    const first = lab.open(new MemoryStore(disk));
    const id = await lab.begin(first, AGENT, {
      config: { autoSpawn: true },
      phases: { aggregation: { enabled: false } },
    });
    await first.until(id, ({ workers }) => workers["a"]?.delegating != null);
    await first.close({ leaveRunning: true });

    const engine = lab.open(new MemoryStore(disk));
    await engine.activate(id);
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "completed", outcome: "success" });
    expect(run.tasks.map(({ id: task, delegation }) => [task, delegation?.parent])).toEqual([
      ["a", undefined],
      ["a-1", "a"],
      ["other", "a"],
    ]);
    const returned = { type: "attempt_completion", state: "acted", deliveries: 1 };
    expect(run.teamMessages).toHaveLength(2);
    for (const taskId of ["a-1", "other"])
      expect(run.teamMessages).toContainEqual(expect.objectContaining({ ...returned, taskId }));
    const files = (commit: string) => lab.git("ls-tree", "--name-only", commit).split("\n");
    expect(files(run.workers["a-1"]!.session.start!)).toContain("early.txt");
    expect(files(run.workers["a"]!.commit!)).toEqual(expect.arrayContaining(["a-1.txt", "other.txt"]));
    expect(lab.git("show", `${run.head!}:early.txt`)).toContain("report when all of them have returned");

    const promptsOf = async (sessionId: string): Promise<string[]> =>
      (await engine.transcript(id, sessionId)).flatMap((entry) => (entry.type === "prompt" ? [entry.text] : []));
    const [, second, third] = await promptsOf(run.workers["a"]!.sessionId);
    expect(second).toContain("The tasks that you delegated:");
    const summaries = [second, third].map((prompt) => /"summary": "(.*) is written"/.exec(prompt!)![1]);
    expect(new Set(summaries)).toEqual(new Set(["a-1", "other"]));
    const [ofChild] = await promptsOf(run.workers["a-1"]!.sessionId);
    expect(ofChild).toContain("Another agent delegated this task to you");
    expect(ofChild).toContain('"context": "any"');
  });
});
