import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";

const failing = (config: Partial<TemplateConfig> = {}, tasks = [{ id: "a" }, { id: "b" }]): Story => {
  const story = new Story(makeTemplate({ config })).execute(tasks);
  story.spawn("a");
  return story;
};
const fail = (story: Story, error = "broken") =>
  story.answerWorker("a", { phase: "completion", data: { task_id: "a", status: "failed", error } });
const wanted = (story: Story) => schedule(story.run, { freeSlots: 9 }, story.now);
const message = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
};

describe("A retry by the user", () => {
  it("resets the worker, counts, and lets the task start again with its own session key (D4-109, D4-112, D4-255, D4-276, D4-358, D4-507, D4-568, D4-570/E12)", () => {
    const story = failing();
    fail(story);
    const before = story.run.workers["a"]!;
    expect(before).toMatchObject({ status: "failed", error: "broken", errorCode: "reported_failure" });
    expect(story.do({ type: "retry", taskId: "a" })).toMatchObject([
      { type: "inbox:answered", data: { withdrawn: true } },
      {
        type: "worker:retrying",
        data: {
          sessionId: before.sessionId,
          orchestratorId: story.run.id,
          taskId: "a",
          retryCount: 1,
          automatic: false,
          notBefore: null,
        },
      },
    ]);
    expect(story.run.workers["a"]).toMatchObject({
      status: "pending",
      progress: 0,
      currentAction: "Retrying...",
      error: null,
      output: null,
      outputFiles: [],
      startedAt: null,
      completedAt: null,
      retryCount: 1,
      task: before.task,
    });
    expect(wanted(story).spawn).toEqual(["a", "b"]);
    story.spawn("a");
    expect(story.run.workers["a"]!.sessionId).toBe(`${before.sessionId}_r1`);
    story.succeed("a");
    expect(story.run.workers["a"]!.status).toBe("completed");
  });

  it("starts nothing itself: the schedule does (D4-113, D4-256)", () => {
    const story = failing();
    fail(story);
    const types = story.do({ type: "retry", taskId: "a" }).map(({ type }) => type);
    expect(types).not.toContain("worker:spawning");
  });

  it("is rejected for a worker that has not failed, timed out or been cancelled (D4-109, D4-253)", () => {
    const story = failing();
    expect(message(() => story.do({ type: "retry", taskId: "a" }))).toBe("Cannot retry worker in status: running");
    story.succeed("a");
    expect(message(() => story.do({ type: "retry", taskId: "a" }))).toBe("Cannot retry worker in status: completed");
    expect(message(() => story.do({ type: "retry", taskId: "nobody" }))).toContain('has no task "nobody"');
  });

  it("is rejected beyond the limit of the template, which is 2 by default (D4-110, D4-252, D4-254)", () => {
    for (const [config, limit] of [
      [{}, 2],
      [{ maxRetries: 1 }, 1],
      [{ maxRetries: 0 }, 0],
    ] as const) {
      const story = failing(config);
      for (let i = 0; i < limit; i++) {
        fail(story);
        story.do({ type: "retry", taskId: "a" });
        story.spawn("a");
      }
      fail(story);
      expect(message(() => story.do({ type: "retry", taskId: "a" }))).toBe(`Worker exceeded retry limit (${limit})`);
    }
  });

  it("is rejected if the template disables it (D4-111, D4-251)", () => {
    const story = failing({ retryOnError: false });
    fail(story);
    expect(message(() => story.do({ type: "retry", taskId: "a" }))).toContain("retryOnError");
  });

  it("accepts timed-out and cancelled workers too (D4-109, D4-570)", () => {
    const timedOut = failing();
    timedOut.do({ type: "expired", sessionId: timedOut.run.workers["a"]!.sessionId }, 400_000);
    timedOut.do({ type: "retry", taskId: "a" });
    expect(timedOut.run.workers["a"]!.status).toBe("pending");
    const cancelled = failing();
    cancelled.do({ type: "cancelWorker", sessionId: cancelled.run.workers["a"]!.sessionId });
    cancelled.do({ type: "retry", taskId: "a" });
    expect(cancelled.run.workers["a"]!.status).toBe("pending");
  });

  it("unblocks all direct and indirect dependents of the task", () => {
    const story = failing({}, [
      { id: "a" },
      { id: "b", dependencies: ["a"] },
      { id: "c", dependencies: ["b"] },
      { id: "d" },
    ] as never);
    fail(story);
    expect(Object.keys(story.run.blocked)).toEqual(["b", "c"]);
    story.do({ type: "retry", taskId: "a" });
    expect(story.run.blocked).toEqual({});
    for (const id of ["a", "b", "c", "d"]) {
      story.spawn(id);
      story.succeed(id);
      story.merge(id);
    }
    expect(story.run.status).toBe("aggregating");
  });

  it("reopens an ended run, which aggregates and verifies again", () => {
    const story = failing();
    fail(story);
    story.spawn("b");
    story.succeed("b");
    story.merge("b");
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "degraded" });
    expect(story.do({ type: "retry", taskId: "a" })[0]).toMatchObject({
      type: "orchestrator:reopened",
      data: { phase: "workerExecution", status: "running" },
    });
    expect(story.run).toMatchObject({ status: "running", outcome: null, aggregation: null, completedAt: null });
    story.spawn("a");
    story.succeed("a");
    story.merge("a");
    expect(story.run.status).toBe("aggregating");
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "aggregation", data: { status: "success" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
  });

  it("is rejected while the results are being merged", () => {
    const story = failing();
    fail(story);
    story.spawn("b");
    story.succeed("b");
    story.merge("b");
    expect(story.run.status).toBe("aggregating");
    expect(message(() => story.do({ type: "retry", taskId: "a" }))).toContain("is aggregating");
  });
});

describe("An automatic retry", () => {
  it("does not happen unless the template enables it (D4-256, D4-586/E14)", () => {
    const story = failing();
    const types = fail(story).map(({ type }) => type);
    expect(types).not.toContain("worker:retrying");
    expect(Object.values(story.run.inbox)).toMatchObject([{ kind: "failure", taskId: "a" }]);
  });

  it("waits twice as long each time, then the user gets an inbox item (D4-586/E13)", () => {
    const story = failing({ autoRetry: true, retryDelay: 1000 });
    const waits: number[] = [];
    for (let i = 0; i < 2; i++) {
      const [, , retrying] = fail(story);
      expect(retrying).toMatchObject({ type: "worker:retrying", data: { automatic: true, retryCount: i + 1 } });
      const { notBefore } = story.run.workers["a"]!;
      waits.push(notBefore! - story.now);
      expect(wanted(story).spawn).not.toContain("a");
      expect(story.do({ type: "spawn", taskId: "a" }), "not before its time").toEqual([]);
      expect(wanted(story).lookAt).toBe(notBefore);
      story.now = notBefore!;
      story.spawn("a");
    }
    expect(waits).toEqual([1000, 2000]);
    fail(story);
    expect(story.run.workers["a"]!.status).toBe("failed");
    expect(Object.values(story.run.inbox)).toMatchObject([
      { kind: "failure", taskId: "a", evidence: { retryCount: 2 } },
    ]);
  });

  it("never happens for a failure that would repeat or for a task that keeps losing its sessions", () => {
    const unstartable = failing({ autoRetry: true });
    unstartable.do({
      type: "unpreparable",
      sessionId: unstartable.run.workers["a"]!.sessionId,
      code: "agent_not_startable",
      error: "no such program",
    });
    expect(unstartable.run.workers["a"]!.status).toBe("failed");
    const poison = failing({ autoRetry: true });
    for (let i = 0; i < 3; i++) {
      poison.do({ type: "lost", sessionId: poison.run.workers["a"]!.sessionId, reason: "gone", counted: true });
      if (poison.run.workers["a"]!.status === "pending") poison.spawn("a");
    }
    expect(poison.run.workers["a"]).toMatchObject({ status: "failed", errorCode: "session_lost", retryCount: 0 });
  });
});

describe("The inbox item of a failed task", () => {
  it("retries the task by approval or its first option, and leaves it by the second", () => {
    const story = failing();
    fail(story);
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({
      kind: "failure",
      taskId: "a",
      options: ["try it again", "leave it"],
      default: "leave it",
    });
    story.do({ type: "answer", itemId: item!.id, answer: { option: 0 } });
    expect(story.run.workers["a"]!.status).toBe("pending");
    expect(story.run.inbox).toEqual({});
    story.spawn("a");
    fail(story);
    const [again] = Object.values(story.run.inbox);
    story.do({ type: "answer", itemId: again!.id, answer: { approve: false } });
    expect(story.run.workers["a"]!.status).toBe("failed");
    expect(story.run.inbox).toEqual({});
  });

  it("accepts the words of an option in any case, and no other text", () => {
    const story = failing();
    fail(story);
    const [item] = Object.values(story.run.inbox);
    const answer = (text: string) => story.do({ type: "answer", itemId: item!.id, answer: { text } });
    expect(() => answer("try it once more")).toThrow(/cannot be answered with text/);
    answer(" Try it again\n");
    expect(story.run.workers["a"]!.status).toBe("pending");
  });
});

describe("A dependency that did not complete", () => {
  const tasks = [{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c", dependencies: ["b"] }, { id: "d" }] as never;

  it("blocks all its dependents, and the other tasks continue (E10)", () => {
    const story = failing({}, tasks);
    fail(story);
    expect(story.run.blocked).toEqual({ b: ["a"], c: ["b"] });
    expect(wanted(story).spawn).toEqual(["d"]);
  });

  it("is ignored if the template says continue", () => {
    const story = failing({ failedDependency: "continue" }, tasks);
    fail(story);
    expect(story.run.blocked).toEqual({});
    expect(wanted(story).spawn).toEqual(["b", "d"]);
  });

  it("ends the run if the template says fail", () => {
    const story = failing({ failedDependency: "fail" }, tasks);
    story.spawn("d");
    fail(story);
    expect(story.run).toMatchObject({ status: "error", outcome: "failed" });
    expect(story.run.errors.at(-1)).toMatchObject({ code: "dependency_failed" });
    expect(story.run.workers["d"]!.status).toBe("cancelled");
  });
});

describe("A timeout", () => {
  it("counts from the start of the worker, and progress does not reset it (D4-045, D4-246, D4-247, D4-249, D4-250, D4-506, D4-568)", () => {
    const story = failing();
    const { sessionId } = story.run.workers["a"]!;
    const progress = { sessionId, orchestratorId: story.run.id, taskId: "a", progress: 50, status: "in_progress" };
    const about = { ...progress, currentAction: "busy", toolStats: story.run.toolStats, outputPreview: null };
    story.do({ type: "record", event: { type: "worker:progress", data: about } }, 200_000);
    expect(story.do({ type: "expired", sessionId }, 99_000)).toEqual([]);
    expect(story.do({ type: "expired", sessionId }, 2000)[0]).toMatchObject({
      type: "worker:timeout",
      data: { sessionId, orchestratorId: story.run.id, taskId: "a" },
    });
    expect(story.run.workers["a"]).toMatchObject({
      status: "timeout",
      error: "Worker timed out after 300000ms",
      completedAt: story.now,
    });
    expect(wanted(story).spawn).toEqual(["b"]);
  });

  it("ends a worker without activity if the template sets idleTimeout", () => {
    const story = failing({ idleTimeout: 20_000 });
    const { sessionId } = story.run.workers["a"]!;
    expect(story.do({ type: "idle", sessionId, forMs: 19_000 })).toEqual([]);
    expect(story.do({ type: "idle", sessionId, forMs: 20_000 }, 20_000)[0]).toMatchObject({
      type: "worker:timeout",
      data: { code: "worker_idle" },
    });
    const without = failing();
    expect(without.do({ type: "idle", sessionId: without.run.workers["a"]!.sessionId, forMs: 9e9 }, 9e9)).toEqual([]);
  });

  it("of the phase as a whole ends active tasks and blocks the rest", () => {
    const story = new Story(makeTemplate({ phases: { workerExecution: { timeout: 60_000 } } })).execute([
      { id: "a" },
      { id: "b" },
      { id: "c", dependencies: ["a"] },
    ]);
    story.spawn("b");
    story.succeed("b");
    story.merge("b");
    story.spawn("a");
    expect(story.do({ type: "tick" }, 30_000)).toEqual([]);
    story.do({ type: "tick" }, 60_000);
    expect(story.run.workers["a"]).toMatchObject({ status: "timeout", errorCode: "phase_over" });
    expect(story.run.blocked).toEqual({ c: [] });
    expect(story.run.status).toBe("aggregating");
  });
});
