// Corners where several things meet: what was asked before a retry, money and decisions at once, clocks while paused.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList } from "./make-run.ts";
import { used } from "../../src/run/budget.ts";
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

describe("data that nobody needs any more", () => {
  const failedMerging = () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    work(story, "a", "b");
    story.spawn("c");
    fail(story, "c");
    for (let i = 0; i < 3; i++) story.answerMain(null, { problems: ["no block"] });
    expect(story.run.status).toBe("error");
    return story;
  };

  it("is withdrawn by a retry, and does not end the run while its workers are at work", () => {
    const story = failedMerging();
    const [item] = items(story, "data");
    story.do({ type: "retry", taskId: "c" });
    expect(items(story, "data")).toEqual([]);
    expect(code(() => story.do({ type: "supply", itemId: item!.id, answer: MERGED }))).toBe("item_not_found");
    expect(story.run.status).toBe("running");
  });

  it("is refused with what is wrong, and can then be given rightly", () => {
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

describe("a retry", () => {
  it("is refused while a paused run is merging, as it is while a run is merging", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    work(story, "a", "b");
    story.spawn("c");
    fail(story, "c");
    story.answerMain({ phase: "aggregation", data: { status: "needs_input", summary: "which?" } });
    expect(story.run.status).toBe("paused");
    expect(code(() => story.do({ type: "retry", taskId: "c" }))).toBe("wrong_state");
  });

  it("brings back a task whose session was lost, or whose turn never came, when the run broke off", () => {
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

describe("money", () => {
  it("that is used up while a person had paused the run is asked for at the resume", () => {
    const story = new Story(makeTemplate({ config: { budget: { usd: 1 } } })).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    const usage = { inputTokens: 1, outputTokens: 1, usd: 2 };
    story.answerWorker("a", null, { ending: { kind: "interrupted", detail: "" }, usage });
    expect(items(story, "budget")).toEqual([]);
    expect(code(() => story.do({ type: "resume" }))).toBe("accepted");
    const asked = items(story, "budget");
    expect(story.run.status).toBe("paused");
    expect(asked).toHaveLength(1);
    expect(code(() => story.do({ type: "resume" }))).toBe("budget_exhausted");
    story.do({ type: "answer", itemId: asked[0]!.id, answer: { option: 0 } });
    expect(story.run.status).toBe("running");
  });

  it("and decisions are both waited for, in whatever order they come, and each is asked once", () => {
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

  it("that a turn used which nobody will judge is used all the same", () => {
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

describe("a clock that is set", () => {
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

  it("back by an hour holds up no start", () => {
    const story = running();
    jump(story, -3_600_000);
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["b"]);
  });

  it("while a run is paused, or a session waits, leaves the time that was left as it was", () => {
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

  it("while a run is paused takes no minute off its budget, nor gives it one", () => {
    const story = running({ budget: { minutes: 60 } });
    story.do({ type: "pause" });
    jump(story, 8 * 3_600_000);
    story.do({ type: "resume" });
    story.now += 30 * 60_000;
    expect(Math.round(used(story.run, story.now).minutes)).toBe(30);
  });
});

describe("questions", () => {
  it("that a session asks twice are put twice: what was allowed once is not allowed for ever", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "May I delete it?" });
    story.do({ type: "answer", itemId: "item_1", answer: { text: "yes" } });
    story.do({ type: "asked", sessionId, askId: "2", itemId: "item_2", question: "May I delete it?" });
    expect(Object.keys(story.run.inbox)).toEqual(["item_2"]);
  });

  it("of a worker whose phase is over are withdrawn with it", () => {
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

  it("that ran out while nobody looked are due at the first look", () => {
    const story = new Story(makeTemplate({ config: { answerTimeout: 60_000 } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_1", question: "?" });
    const since = story.run.updatedAt;
    story.now += 600_000;
    const { lookAt } = schedule(story.run, { freeSlots: 0, since }, story.now);
    expect(lookAt).toBe(since + 60_000);
    // Nobody has answered it yet, so it stays due.
    expect(schedule(story.run, { freeSlots: 0, since: story.now }, story.now).lookAt).toBe(since + 60_000);
  });
});

describe("a paused worker whose agent died of the interrupt", () => {
  it("rests until it is resumed, and nobody counts the loss, however often", () => {
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

describe("a task that failed while its run was paused", () => {
  it("starts again when it is retried and the run goes on", () => {
    const story = new Story(makeTemplate({ config: { autoRetry: true, retryDelay: 0 } })).execute([{ id: "a" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    fail(story, "a");
    story.do({ type: "resume" });
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["a"]);
  });
});
