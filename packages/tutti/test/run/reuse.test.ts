import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { census } from "../../src/run/census.ts";
import type { Report } from "../../src/run/command.ts";
import { isWhole } from "../../src/run/rules/reuse.ts";
import { NO_USAGE } from "../../src/schema/outcome.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";

const origin = { run: "orch_111111111111", taskId: "old", sessionId: "session of old" };
const report = { task_id: "old", status: "success" as const, summary: "it is there" };

/** Reports that the engine found an earlier result for this task. */
function known(story: Story, taskId: string, from = origin): Report {
  const { sessionId } = story.run.workers[taskId]!;
  const result = { origin: from, output: "it is there", report, commit: "commit of old" };
  return { type: "known", sessionId, key: "k", result, work: { commit: `commit for ${taskId}`, files: ["a.md"] } };
}

const twoTasks = (config: object = {}) =>
  new Story(makeTemplate({ config, phases: { aggregation: { enabled: false } } })).execute([{ id: "a" }, { id: "b" }]);

describe("An earlier result", () => {
  it("completes a task that is about to start and is merged like any other", () => {
    const story = twoTasks();
    story.do({ type: "spawn", taskId: "a" });
    expect(story.do(known(story, "a"))[0]).toEqual({
      type: "worker:completed",
      data: {
        sessionId: story.run.workers["a"]!.sessionId,
        orchestratorId: story.run.id,
        taskId: "a",
        output: "it is there",
        outputFiles: ["a.md"],
        report: { ...report, task_id: "a" },
        commit: "commit for a",
        partial: false,
        reused: { ...origin, key: "k" },
      },
    });
    expect(story.run.workers["a"]).toMatchObject({
      status: "completed",
      merged: "not yet",
      reused: origin,
      usage: NO_USAGE,
      endedTools: NO_TOOLS,
    });
    expect(census(story.run)).toMatchObject({ planned: 2, completed: 1 });
    // Only the main session counts.
    expect(story.run.sessions).toBe(1);
    expect(story.merge("a")).not.toEqual([]);
  });

  it("is reused for one task of a run only", () => {
    const story = twoTasks();
    story.do({ type: "spawn", taskId: "a" });
    story.do({ type: "spawn", taskId: "b" });
    story.do(known(story, "a"));
    expect(story.do(known(story, "b"))).toEqual([]);
    expect(story.do(known(story, "b", { ...origin, sessionId: "session of another" }))).not.toEqual([]);
  });

  it("is ignored for a task whose session is running or that has ended", () => {
    const story = twoTasks();
    story.spawn("a");
    expect(story.do(known(story, "a"))).toEqual([]);
    story.do({ type: "spawn", taskId: "b" });
    const late = known(story, "b");
    story.do({ type: "cancelWorker", sessionId: story.run.workers["b"]!.sessionId });
    expect(story.do(late)).toEqual([]);
  });

  it("is not reused after a retry by the user, even if the next session is lost, but after an automatic retry", () => {
    const fail = { phase: "completion" as const, data: { task_id: "a", status: "failed" as const, error: "no" } };
    const story = twoTasks();
    story.spawn("a");
    story.answerWorker("a", fail);
    story.do({ type: "retry", taskId: "a" });
    story.do({ type: "spawn", taskId: "a" });
    expect(story.do(known(story, "a"))).toEqual([]);
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "lost", sessionId, reason: "gone", counted: true });
    story.do({ type: "spawn", taskId: "a" });
    expect(story.do(known(story, "a"))).toEqual([]);

    const automatic = twoTasks({ autoRetry: true, retryDelay: 0 });
    automatic.spawn("a");
    automatic.answerWorker("a", fail);
    automatic.do({ type: "spawn", taskId: "a" });
    expect(automatic.run.workers["a"]).toMatchObject({ attempt: 2, retryCount: 1 });
    expect(automatic.do(known(automatic, "a"))).not.toEqual([]);
  });

  it("is reused only if it is a full success", () => {
    const story = twoTasks();
    const work = { commit: "c", files: ["a.md"], head: null };
    const completed = (status: "success" | "partial") => {
      story.spawn(status === "success" ? "a" : "b");
      const taskId = status === "success" ? "a" : "b";
      const answer = { phase: "completion" as const, data: { task_id: taskId, status } };
      const events = story.answerWorker(taskId, answer, { work });
      return events.flatMap((event) => (event.type === "worker:completed" ? [event.data] : []))[0]!;
    };
    expect(isWhole(completed("success"))).toBe(true);
    expect(isWhole(completed("partial"))).toBe(false);
  });
});

describe("The source of earlier results", () => {
  const forked = (story: Story, data: object) => {
    const event = {
      type: "orchestrator:forked" as const,
      data: { id: story.run.id, from: origin.run, at: 7, ...data },
    };
    story.append(event);
    return story.run.forkedFrom;
  };

  it("is the run that this one was forked from, unless the fork is fresh or imported", () => {
    const story = twoTasks();
    expect(story.run.forkedFrom).toBeNull();
    expect(forked(story, {})).toEqual({ run: origin.run, at: 7 });
    expect(forked(story, { fresh: true })).toBeNull();
    forked(story, {});
    story.append({ type: "orchestrator:imported", data: { id: story.run.id } });
    expect(story.run.forkedFrom).toBeNull();
  });
});
