// `writeState` leaves out the usual members of finished workers, and `readState` restores them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Story, type PlannedTask } from "../run/make-run.ts";
import { settings, walk } from "../run/walk.ts";
import { fingerprint, readState, writeState } from "../../src/engine/runs/stored-state.ts";
import { withEntry } from "../../src/run/fold/shared-record.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Worker } from "../../src/schema/worker.ts";

function finished(...tasks: PlannedTask[]): Run {
  const story = new Story().execute(tasks);
  for (const { id } of tasks) {
    story.spawn(id);
    story.succeed(id);
    story.merge(id);
  }
  return story.run;
}

function expectSame(run: Run): void {
  const read = readState(writeState(run));
  expect(JSON.stringify(read)).toBe(JSON.stringify(run));
  expect(fingerprint(read)).toBe(fingerprint(run));
}

describe("a stored state", () => {
  it("is read as it was, at every step of a run", () => {
    fc.assert(
      fc.property(settings, (setting) => {
        walk(setting, (_, { run }) => expectSame(run));
      }),
    );
  });

  it("restores every member of a finished worker that differs from the usual ones", () => {
    const run = finished({ id: "a" }, { id: "b" });
    const worker = run.workers["a"]!;
    const { reused: _, ...lacking } = worker;
    const { pausedAt: __, ...session } = worker.session;
    const others: object[] = [
      { status: "failed", error: "no", errorCode: "x", completedAt: null },
      { toolStats: { ...worker.toolStats, total: 3 } },
      { endedTools: { ...worker.endedTools, reads: 2 } },
      { usage: { inputTokens: 1, outputTokens: 2, usd: 3 }, progress: 0, anew: true, losses: 2 },
      { task: { ...worker.task, description: "an earlier plan" } },
      { orchestratorId: "orch_other" },
      { session: { ...worker.session, turns: 3, sessionId: "another" } },
      { session: { ...worker.session, state: "running", asks: { q: null } } },
      { session: { ...worker.session, model: "last" } },
      { output: undefined },
      { session: { ...worker.session, agent: undefined } },
      { rework: { attempt: 1 }, summary: "done", warnings: [] },
    ];
    const { startedAt, ...moved } = worker;
    const { sessionId, attempt, agent, role, ...later } = worker.session;
    others.push({ session: { sessionId, attempt, agent, role, model: "small", ...later } });
    const all = [
      { ...moved, startedAt },
      ...others.map((other) => ({ ...worker, ...other })),
      lacking,
      { ...worker, session },
    ];
    for (const each of all) expectSame({ ...run, workers: withEntry(run.workers, "a", each as Worker) });
  });

  it("contains the task of a finished worker once", () => {
    const run = finished({ id: "a" });
    const tasks = [{ ...run.tasks[0]!, description: "the only description" }];
    const worker = { ...run.workers["a"]!, task: tasks[0]! };
    const text = writeState({ ...run, tasks, workers: withEntry(run.workers, "a", worker) });
    expect(text.split("the only description")).toHaveLength(2);
  });
});
