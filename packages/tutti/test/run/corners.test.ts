// Interactions of several rules: items from before a retry, budgets together with decisions, clock jumps during pauses.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList, type LoggedEvent } from "./make-run.ts";
import { apply } from "../../src/run/apply.ts";
import { used } from "../../src/run/rules/budget.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Answer } from "../../src/schema/answer.ts";

const MERGED: Answer = { phase: "aggregation", data: { status: "success" } };
const fail = (story: Story, id: string) =>
  story.answerWorker(id, { phase: "completion", data: { task_id: id, status: "failed", error: "no" } });
const work = (story: Story, ...ids: string[]) => {
  for (const id of ids) {
    story.spawn(id);
    story.succeed(id);
    story.merge(id);
  }
};
const items = (story: Story, kind: string) => Object.values(story.run.inbox).filter((item) => item.kind === kind);
const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "accepted";
};

describe("Data that the run no longer needs", () => {
  const failedMerging = () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    work(story, "a", "b");
    story.spawn("c");
    fail(story, "c");
    for (let i = 0; i < 3; i++) story.answerMain(null, { problems: ["no block"] });
    expect(story.run.status).toBe("error");
    return story;
  };

  it("is withdrawn by a retry and does not end the run while its workers run", () => {
    const story = failedMerging();
    const [item] = items(story, "data");
    story.do({ type: "retry", taskId: "c" });
    expect(items(story, "data")).toEqual([]);
    expect(code(() => story.do({ type: "supply", itemId: item!.id, answer: MERGED }))).toBe("item_not_found");
    expect(story.run.status).toBe("running");
  });

  it("is rejected with its problems and can then be supplied again", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    for (let i = 0; i < 3; i++) story.answerMain(null, { problems: ["no block"] });
    const [item] = items(story, "data");
    const cyclic = taskList([{ id: "a", dependencies: ["a"] }]);
    expect(code(() => story.do({ type: "supply", itemId: item!.id, answer: cyclic }))).toBe("invalid_plan");
    expect(items(story, "data")).toEqual([item]);
    story.do({ type: "supply", itemId: item!.id, answer: taskList([{ id: "a" }]) });
    expect(story.run.status).toBe("confirming");
  });
});

describe("An event of an unknown type", () => {
  it("is skipped by the fold, which counts its position", () => {
    const { run } = new Story().execute([{ id: "a" }]);
    const event = { type: "worker:levitated", data: { taskId: "a" }, runSeq: run.runSeq + 1, timestamp: 9000 };
    expect(apply(run, event as unknown as LoggedEvent)).toEqual({ ...run, runSeq: run.runSeq + 1, updatedAt: 9000 });
  });
});

describe("A retry", () => {
  it("is rejected while the run is merging, paused or not", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    work(story, "a", "b");
    story.spawn("c");
    fail(story, "c");
    story.answerMain({ phase: "aggregation", data: { status: "needs_input", summary: "which?" } });
    expect(story.run.status).toBe("paused");
    expect(code(() => story.do({ type: "retry", taskId: "c" }))).toBe("wrong_state");
  });

  it("restarts a task of an ended run that lost its session or never started", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "lost", sessionId: story.run.workers["a"]!.sessionId, reason: "gone", counted: true });
    story.do({ type: "fault", operation: "x", error: "broken", code: "git_failed" });
    expect(story.run.status).toBe("error");
    story.do({ type: "retry", taskId: "a" });
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["a", "b"]);
    const other = new Story().execute([{ id: "a" }, { id: "b" }]);
    other.do({ type: "fault", operation: "x", error: "broken", code: "git_failed" });
    other.do({ type: "retry", taskId: "b" });
    expect(schedule(other.run, { freeSlots: 9 }, other.now).spawn).toEqual(["a", "b"]);
  });
});

describe("A money budget", () => {
  it("that is exhausted while the user paused the run creates an item when the run is resumed", () => {
    const story = new Story(makeTemplate({ config: { budget: { usd: 1 } } })).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    const usage = { inputTokens: 1, outputTokens: 1, usd: 2 };
    story.answerWorker("a", null, { ending: { kind: "interrupted", detail: "" }, usage });
    expect(items(story, "budget")).toEqual([]);
    expect(code(() => story.do({ type: "resume" }))).toBe("accepted");
    const budgetItems = items(story, "budget");
    expect(story.run.status).toBe("paused");
    expect(budgetItems).toHaveLength(1);
    expect(code(() => story.do({ type: "resume" }))).toBe("budget_exhausted");
    story.do({ type: "answer", itemId: budgetItems[0]!.id, answer: { option: 0 } });
    expect(story.run.status).toBe("running");
  });

  it("and decisions are both awaited in any order, and each creates one item", () => {
    for (const first of ["budget", "decision"]) {
      const story = new Story(makeTemplate({ config: { budget: { usd: 1 } } })).execute([{ id: "a" }, { id: "b" }]);
      work(story, "a", "b");
      story.do({ type: "spending", usage: { inputTokens: 1, outputTokens: 1, usd: 2 } });
      const usage = { inputTokens: 1, outputTokens: 1, usd: 2 };
      story.answerMain({ phase: "aggregation", data: { status: "needs_input", summary: "which?" } }, { usage });
      const [budget] = items(story, "budget");
      const [decision] = items(story, "decision");
      const give = (kind: string) =>
        kind === "budget"
          ? story.do({ type: "answer", itemId: budget!.id, answer: { data: { usd: 100 } } })
          : story.do({ type: "answer", itemId: decision!.id, answer: { text: "this" } });
      give(first);
      expect(story.run.status, first).toBe("paused");
      expect(items(story, "budget").length + items(story, "decision").length).toBe(1);
      give(first === "budget" ? "decision" : "budget");
      expect(story.run).toMatchObject({ status: "aggregating", inbox: {} });
    }
  });

  it("includes the usage of abandoned turns", () => {
    const story = new Story(makeTemplate({ config: { budget: { usd: 1 }, autoRetry: true } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "expired", sessionId }, 400_000);
    const usage = { inputTokens: 5, outputTokens: 5, usd: 1.5 };
    story.do({ type: "abandoned", sessionId, taskId: "a", usage, toolStats: story.run.toolStats });
    expect(story.run.usage.usd).toBe(1.5);
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "budget" } });
  });
});

describe("A clock change", () => {
  const running = (config: object = {}) => {
    const story = new Story(makeTemplate({ config: { workerTimeout: 10_000, ...config } })).execute([
      { id: "a" },
      { id: "b" },
    ]);
    story.spawn("a");
    return story;
  };
  const jump = (story: Story, byMs: number) => story.do({ type: "clockJumped", byMs }, byMs);
  const left = (story: Story) => schedule(story.run, { freeSlots: 0 }, story.now).deadlines[0]!.at - story.now;

  it("back by an hour delays no start", () => {
    const story = running();
    jump(story, -3_600_000);
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["b"]);
  });

  it("during a pause or a wait keeps the remaining time of a session", () => {
    for (const byMs of [-3_600_000, 3_600_000]) {
      const paused = running();
      const before = left(paused);
      paused.do({ type: "pause" }, 0);
      jump(paused, byMs);
      paused.do({ type: "resume" }, 0);
      expect(left(paused)).toBe(before);
      const waiting = running();
      const { sessionId } = waiting.run.workers["a"]!;
      waiting.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "?" }, 0);
      jump(waiting, byMs);
      waiting.do({ type: "answer", itemId: "item_1", answer: { text: "yes" } }, 0);
      expect(left(waiting)).toBe(before);
    }
  });

  it("during a pause does not change the minutes of the budget", () => {
    const story = running({ budget: { minutes: 60 } });
    story.do({ type: "pause" });
    jump(story, 8 * 3_600_000);
    story.do({ type: "resume" });
    story.now += 30 * 60_000;
    expect(Math.round(used(story.run, story.now).minutes)).toBe(30);
  });
});

describe("A question", () => {
  it("that a session asks twice creates two items, so one permission does not cover later requests", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "May I delete it?" });
    story.do({ type: "answer", itemId: "item_1", answer: { text: "yes" } });
    story.do({ type: "asked", sessionId, askId: "2", itemId: "item_2", question: "May I delete it?" });
    expect(Object.keys(story.run.inbox)).toEqual(["item_2"]);
  });

  it("beyond a hundred open ones of its session ends the session, whose questions are withdrawn", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.spawn("b");
    const { sessionId } = story.run.workers["a"]!;
    const ask = (n: number, by = sessionId) =>
      story.do({ type: "asked", sessionId: by, askId: `${n}`, itemId: `item_${by}_${n}`, question: "?" });
    ask(0, story.run.workers["b"]!.sessionId);
    for (let n = 1; n <= 100; n++) ask(n);
    // An adopted session repeats its questions.
    ask(100);
    expect(items(story, "question")).toHaveLength(101);
    expect(ask(101)).toContainEqual(
      expect.objectContaining({
        type: "worker:lost",
        data: expect.objectContaining({ sessionId, reason: "it asked more than 100 questions at a time" }) as object,
      }),
    );
    expect(items(story, "question")).toHaveLength(1);
  });

  it("of a worker is withdrawn when its phase times out", () => {
    const story = new Story(makeTemplate({ phases: { workerExecution: { timeout: 60_000 } } })).execute([
      { id: "a" },
      { id: "b" },
    ]);
    work(story, "b");
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "?" });
    story.do({ type: "tick" }, 100_000);
    expect(items(story, "question")).toEqual([]);
  });

  it("that expired while the engine was down is due at the first tick", () => {
    const story = new Story(makeTemplate({ config: { answerTimeout: 60_000 } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "?" });
    const since = story.run.updatedAt;
    story.now += 600_000;
    const { lookAt } = schedule(story.run, { freeSlots: 0, since }, story.now);
    expect(lookAt).toBe(since + 60_000);
    // The item is still open, so it stays due.
    expect(schedule(story.run, { freeSlots: 0, since: story.now }, story.now).lookAt).toBe(since + 60_000);
  });
});

describe("A paused worker whose agent exited after the interrupt", () => {
  it("waits until it is resumed, and its losses never count", () => {
    const story = new Story().execute([{ id: "a" }]);
    for (let i = 0; i < 4; i++) {
      story.spawn("a");
      const { sessionId } = story.run.workers["a"]!;
      story.do({ type: "pauseWorker", sessionId });
      story.do({ type: "lost", sessionId, reason: "exited", counted: true });
      expect(story.run.workers["a"]).toMatchObject({ status: "pending", losses: 0, pausedBy: "person" });
      expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual([]);
      story.do({ type: "resumeWorker", sessionId });
      expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["a"]);
    }
  });
});

describe("A task that failed while its run was paused", () => {
  it("starts again after a retry and the resume of the run", () => {
    const story = new Story(makeTemplate({ config: { autoRetry: true, retryDelay: 0 } })).execute([{ id: "a" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    fail(story, "a");
    story.do({ type: "resume" });
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["a"]);
  });
});

describe("A repair of conflicts that a pause interrupts", () => {
  it("continues after the resume, beside work that waits for its merge", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a", "b"] }, { id: "d" }]);
    for (const id of ["a", "b", "d"]) story.spawn(id);
    story.succeed("a");
    story.merge("a");
    story.succeed("b");
    const conflict = { type: "file_conflict", files: ["x"], tasks: ["a", "b"], resolution: null, refs: [] };
    story.do({ type: "conflicted", taskId: "b", commit: "commit-of-b", head: "head", conflict });
    expect(story.run.main!.turn).toMatchObject({ phase: "aggregation" });
    story.do({ type: "pause" });
    story.answerMain(null, { ending: { kind: "interrupted", detail: "" } });
    story.succeed("d");
    story.do({ type: "resume" });
    expect(story.run.main!.turn).toMatchObject({ phase: "aggregation" });
    expect(schedule(story.run, { freeSlots: 9 }, story.now).merges).toEqual([]);
  });
});
