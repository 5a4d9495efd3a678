import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { used } from "../../src/run/rules/budget.ts";
import { schedule } from "../../src/run/schedule.ts";
import type { Budget } from "../../src/schema/budget.ts";

const begin = (budget: Budget, tasks = [{ id: "a" }, { id: "b" }]) =>
  new Story(makeTemplate({ config: { budget } })).execute(tasks);
const spend = (story: Story, usage: { inputTokens?: number; outputTokens?: number; usd?: number }) =>
  story.answerWorker(
    "a",
    { phase: "completion", data: { task_id: "a", status: "success" } },
    { usage: { inputTokens: 0, outputTokens: 0, usd: 0, ...usage }, work: { commit: "c", files: ["f"], head: null } },
  );
const item = (story: Story) => Object.values(story.run.inbox).find(({ kind }) => kind === "budget")!;
const wanted = (story: Story) => schedule(story.run, { freeSlots: 9 }, story.now);

describe("An exhausted budget", () => {
  it.each([
    ["money", { usd: 1 }, { usd: 1.2 }, "usd"],
    ["tokens", { tokens: 1000 }, { inputTokens: 600, outputTokens: 400 }, "tokens"],
  ] as const)("in %s pauses the run, asks for more and loses no work", (_, budget, usage, kind) => {
    const story = begin(budget);
    story.spawn("a");
    spend(story, usage);
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { status: "running", reason: "budget" } });
    expect(story.run.workers["a"]!.status).toBe("completed");
    expect(item(story)).toMatchObject({
      kind: "budget",
      evidence: { kind },
      options: ["use as much again", "cancel the run"],
    });
    expect(wanted(story).spawn).toEqual([]);
    expect(() => story.do({ type: "resume" })).toThrow("used up");
    story.do({ type: "answer", itemId: item(story).id, answer: { option: 0 } });
    expect(story.run).toMatchObject({ status: "running", inbox: {} });
    expect(story.run.budget[kind]).toBeGreaterThan(budget[kind as never]);
    expect(wanted(story).spawn).toEqual(["b"]);
  });

  it("in turns pauses the run before the turn that exceeds it", () => {
    const story = begin({ turns: 3 });
    story.spawn("a");
    expect(story.run.turns).toBe(3);
    story.spawn("b");
    expect(story.run).toMatchObject({ status: "paused", turns: 3 });
    story.do({ type: "answer", itemId: item(story).id, answer: { data: { turns: 10 } } });
    expect(story.run).toMatchObject({ status: "running", turns: 4, budget: { turns: 10 } });
  });

  it("in sessions pauses the run before the session that exceeds it", () => {
    const story = begin({ descendants: 2 });
    expect(story.run.status).toBe("spawning");
    story.spawn("a");
    expect(story.run).toMatchObject({ status: "paused", sessions: 2 });
    expect(item(story)).toMatchObject({ evidence: { kind: "descendants", used: 2, limit: 2 } });
  });

  it("in minutes counts from the start of the run, without waits for the user", () => {
    const story = new Story(makeTemplate({ config: { budget: { minutes: 10 } } })).plan([{ id: "a" }]);
    story.now += 60 * 60_000;
    story.do({ type: "confirm" });
    story.spawn("a");
    story.do({ type: "pause" });
    story.do({ type: "resume" }, 60 * 60_000);
    expect(used(story.run, story.now).minutes).toBeLessThan(0.1);
    const { lookAt } = wanted(story);
    expect(lookAt! - story.now).toBeLessThanOrEqual(10 * 60_000);
    story.now = lookAt!;
    story.do({ type: "tick" });
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "budget" } });
  });

  it("is detected during a turn", () => {
    const story = begin({ usd: 1 });
    story.spawn("a");
    const spending = (usd: number) => story.do({ type: "spending", usage: { inputTokens: 1, outputTokens: 1, usd } });
    expect(spending(0.9)).toEqual([]);
    expect(spending(1.1).map(({ type }) => type)).toEqual([
      "orchestrator:budgetReached",
      "inbox:added",
      "orchestrator:paused",
      "worker:paused",
    ]);
    expect(spending(1.2), "asks once").toEqual([]);
    story.do({ type: "answer", itemId: item(story).id, answer: { approve: true } });
    expect(story.run.budget.usd, "from the usage that was shown, including the open turn").toBeCloseTo(2.1);
  });

  it("creates no inbox item if the run needs no more turns", () => {
    const story = begin({ usd: 1 }, [{ id: "a" }]);
    story.spawn("a");
    spend(story, { usd: 2 });
    story.merge("a");
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
  });

  it("can be raised with the confirmation of the plan, and its rejection cancels the run", () => {
    const raised = new Story(makeTemplate({ config: { budget: { usd: 1 } } })).plan([{ id: "a" }, { id: "b" }]);
    raised.do({ type: "confirm", changes: { budget: { usd: 50 } } });
    raised.spawn("a");
    spend(raised, { usd: 2 });
    expect(raised.run.status).toBe("running");
    const ended = begin({ usd: 1 });
    ended.spawn("a");
    spend(ended, { usd: 2 });
    ended.do({ type: "answer", itemId: item(ended).id, answer: { approve: false } });
    expect(ended.run.status).toBe("cancelled");
  });

  it("accepts only numbers as data", () => {
    const story = begin({ usd: 1 });
    story.spawn("a");
    spend(story, { usd: 2 });
    for (const answer of [{ data: { usd: "much" } }, { text: "yes" }, { option: 9 }] as never[]) {
      expect(() => story.do({ type: "answer", itemId: item(story).id, answer })).toThrow();
    }
    expect(story.run.status).toBe("paused");
  });
});

describe("A budget in turns or sessions", () => {
  it("is not exceeded by several turns that are due at once or by a due retry", () => {
    const many = begin({ turns: 4 }, [{ id: "a" }, { id: "b" }, { id: "c" }]);
    many.do({ type: "pause" });
    for (const id of ["a", "b", "c"]) many.do({ type: "spawn", taskId: id });
    many.do({ type: "resume" });
    for (const id of ["a", "b", "c"]) many.do({ type: "spawn", taskId: id });
    for (const id of ["a", "b", "c"]) {
      const worker = many.run.workers[id];
      if (worker) many.do({ type: "ready", sessionId: worker.sessionId, start: "base" });
    }
    expect(many.run.turns).toBeLessThanOrEqual(4);
    const template = makeTemplate({ config: { budget: { descendants: 2 }, autoRetry: true, retryDelay: 1000 } });
    const again = new Story(template).execute([{ id: "a" }]);
    again.spawn("a");
    again.answerWorker("a", { phase: "completion", data: { task_id: "a", status: "failed", error: "no" } });
    again.do({ type: "spawn", taskId: "a" }, 5000);
    expect(again.run).toMatchObject({ sessions: 2, status: "paused", pausedFrom: { reason: "budget" } });
  });
});
