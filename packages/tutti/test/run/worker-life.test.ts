import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import type { Command, RecordedEvent } from "../../src/run/command.ts";
import { schedule } from "../../src/run/schedule.ts";

const progress = (story: Story, progressPercent: number): RecordedEvent => ({
  type: "worker:progress",
  data: {
    sessionId: story.run.workers["a"]!.sessionId,
    orchestratorId: story.run.id,
    taskId: "a",
    progress: progressPercent,
    status: "in_progress",
    currentAction: "reading",
    toolStats: { ...story.run.toolStats, total: 3, reads: 3 },
    outputPreview: "so far",
  },
});

// @ts-expect-error An event that the rules read must come from `decide`.
export const rejected: Command = { type: "record", event: { type: "worker:completed", data: {} } };

describe("A worker", () => {
  it("waits, is spawned, runs and completes, and the run goes from spawning to running (D4-037, D4-046, D4-566, D4-567, D4-568)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    expect(story.run).toMatchObject({ status: "spawning", currentPhase: "workerExecution", workers: {} });
    story.do({ type: "spawn", taskId: "a" });
    expect(story.run).toMatchObject({ status: "spawning", workers: { a: { status: "spawning", startedAt: null } } });
    story.do({ type: "ready", sessionId: story.run.workers["a"]!.sessionId, start: "base" });
    expect(story.run.workers["a"]).toMatchObject({ status: "running", startedAt: story.now });
    expect(story.run.status).toBe("running");
    story.succeed("a");
    expect(story.run.workers["a"]).toMatchObject({ status: "completed", progress: 100, completedAt: story.now });
    expect(schedule(story.run, { freeSlots: 9 }, story.now).sessions).toEqual([]);
  });

  it("keeps its final progress when a progress event follows its end", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const late = progress(story, 40);
    story.succeed("a");
    story.do({ type: "record", event: late });
    expect(story.run.workers["a"]).toMatchObject({ status: "completed", progress: 100 });
  });

  it("is identified by session, run and task, and has its task, progress, tools, output and times (D4-272..D4-275)", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    story.do({ type: "record", event: progress(story, 40) });
    expect(story.run.workers["a"]).toMatchObject({
      sessionId: expect.stringContaining("_worker_a"),
      orchestratorId: story.run.id,
      taskId: "a",
      task: story.run.tasks[0],
      progress: 40,
      currentAction: "reading",
      toolStats: { total: 3, reads: 3, writes: 0, edits: 0, bash: 0, search: 0, web: 0, task: 0 },
      output: null,
      outputFiles: [],
      outputPreview: "so far",
      error: null,
      retryCount: 0,
      startedAt: expect.any(Number),
      completedAt: null,
      lastActivityAt: story.now,
      session: { pausedAt: null },
    });
  });

  it("may report progress or not: only its completion decides (D4-052)", () => {
    const silent = new Story().execute([{ id: "a" }]);
    silent.spawn("a");
    silent.succeed("a");
    const talking = new Story().execute([{ id: "a" }]);
    talking.spawn("a");
    for (const percent of [10, 99, 100, 5]) {
      talking.do({ type: "record", event: progress(talking, percent) });
      expect(talking.run.workers["a"]).toMatchObject({ status: "running", progress: percent });
    }
    talking.succeed("a");
    for (const story of [silent, talking]) expect(story.run.workers["a"]!.status).toBe("completed");
  });

  it.each(["completed", "failed", "timeout", "cancelled"] as const)(
    "that ends as %s frees its slot once (D4-116, D4-249)",
    (ending) => {
      const story = new Story(makeTemplate({ config: { maxWorkers: 1 } })).execute([
        { id: "a" },
        { id: "b" },
        { id: "c" },
      ]);
      story.spawn("a");
      const { sessionId } = story.run.workers["a"]!;
      expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual([]);
      const failed = { phase: "completion", data: { task_id: "a", status: "failed", error: "no" } } as const;
      if (ending === "completed") story.succeed("a");
      if (ending === "failed") story.answerWorker("a", failed);
      if (ending === "timeout") story.do({ type: "expired", sessionId }, 999_999);
      if (ending === "cancelled") story.do({ type: "cancelWorker", sessionId });
      expect(story.run.workers["a"]!.status).toBe(ending);
      expect(story.do({ type: "expired", sessionId }, 999_999), "ended before").toEqual([]);
      expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["b"]);
      story.spawn("b");
      expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual([]);
    },
  );
});

describe("An unexpected error", () => {
  it("ends the run from any status, records its phase, text and time, and cancels active workers (D4-270, D4-495, D4-565/E70)", () => {
    const fault = { type: "fault", operation: "reconcile", error: "the disk is gone", code: "git_failed" } as const;
    const early = new Story();
    early.do({ type: "start", base: "base", warnings: [] });
    const late = new Story().execute([{ id: "a" }]);
    late.spawn("a");
    const waiting = new Story().plan([{ id: "a" }]);
    for (const story of [early, late, waiting]) {
      const phase = story.run.currentPhase;
      const events = story.do(fault);
      expect(events.at(-1)).toMatchObject({
        type: "orchestrator:error",
        data: {
          id: story.run.id,
          operation: "reconcile",
          error: "the disk is gone",
          fatal: true,
          timestamp: new Date(story.now).toISOString(),
        },
      });
      expect(story.run).toMatchObject({
        status: "error",
        outcome: "failed",
        inbox: {},
        errors: [{ phase, error: "the disk is gone", timestamp: story.now }],
      });
    }
    expect(late.run.workers["a"]!.status).toBe("cancelled");
  });

  it("outside the run's own work is only recorded (E70)", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.do({ type: "mishap", operation: "end of a session", error: "could not be removed", code: "git_failed" });
    expect(story.run).toMatchObject({ status: "spawning", errors: [{ error: "could not be removed" }] });
    expect(story.log.at(-1)).toMatchObject({ data: { fatal: false } });
  });
});
