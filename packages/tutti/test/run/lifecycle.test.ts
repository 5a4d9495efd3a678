import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList, turnOver } from "./make-run.ts";
import { census } from "../../src/run/census.ts";
import { completedVerdict, outcome } from "../../src/run/outcome/outcome.ts";
import { schedule } from "../../src/run/schedule.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";

const verifying = makeTemplate({ phases: { verification: { enabled: true } } });
const PASSED = { phase: "verification", data: { status: "passed" } } as const;
const MERGED = { phase: "aggregation", data: { status: "success", summary: "one whole" } } as const;

describe("The five phases", () => {
  it("lead from created to completed, each step by a parsed answer or an order of the user (D4-003, D4-005, D4-555..D4-560)", () => {
    const story = new Story(verifying);
    const statuses = [story.run.status];
    const note = () => statuses.at(-1) === story.run.status || statuses.push(story.run.status);
    story.do({ type: "start", base: "base", warnings: [] });
    note();
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "found", recommended_splits: 2 } });
    note();
    story.answerMain({
      phase: "task_list",
      data: {
        tasks: [
          { id: "a", title: "A", description: "a" },
          { id: "b", title: "B", description: "b", dependencies: ["a"] },
        ],
      },
    });
    note();
    story.do({ type: "confirm" });
    note();
    story.spawn("a");
    note();
    story.succeed("a");
    story.merge("a");
    story.spawn("b");
    story.succeed("b");
    story.merge("b");
    note();
    story.answerMain(MERGED, { work: { commit: "c", files: [], head: "merged-head" } });
    note();
    story.answerMain(PASSED, { work: { commit: "c", files: [], head: "verified-head" } });
    note();
    expect(statuses).toEqual([
      "created",
      "analyzing",
      "planning",
      "confirming",
      "spawning",
      "running",
      "aggregating",
      "verifying",
      "completed",
    ]);
    expect(story.run.currentPhase).toBe("verification");
    expect(story.run.head).toBe("verified-head");
    expect(story.log.at(-1)).toMatchObject({
      type: "orchestrator:completed",
      data: { status: "completed", outcome: "success" },
    });
  });

  it("split one request into parallel tasks and merge their results (D4-001)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c", dependencies: ["a", "b"] }]);
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["a", "b"]);
    story.spawn("a");
    story.spawn("b");
    story.succeed("b");
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual([]);
    story.succeed("a");
    expect(schedule(story.run, { freeSlots: 9 }, story.now).spawn).toEqual(["c"]);
    story.spawn("c");
    story.succeed("c");
    for (const id of schedule(story.run, { freeSlots: 9 }, story.now).merges) story.merge(id);
    expect(story.run.status).toBe("aggregating");
    story.answerMain(MERGED);
    expect(outcome(story.run, [], story.now)).toMatchObject({
      outcome: "success",
      census: { planned: 3, completed: 3 },
    });
  });

  it("include the status confirming within the planning phase (E21)", () => {
    const story = new Story().plan([{ id: "a" }]);
    expect(story.run.status).toBe("confirming");
    expect(story.run.currentPhase).toBe("taskPlanning");
  });

  it("start no aggregation before every task has ended and every result is merged (D4-295)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.spawn("b");
    story.succeed("a");
    story.merge("a");
    story.succeed("b");
    expect(story.run.status).toBe("running");
    story.merge("b");
    expect(story.run.status).toBe("aggregating");
  });

  it("skip aggregation for a single task, and skip verification if the template has none", () => {
    const story = new Story(makeTemplate({ phases: { verification: { enabled: false } } })).execute([{ id: "a" }]);
    story.spawn("a");
    story.succeed("a");
    story.merge("a");
    expect(story.run.status).toBe("completed");
  });

  it("end in error if verification reports failed", () => {
    const story = new Story(verifying).execute([{ id: "a" }]);
    story.spawn("a");
    story.succeed("a");
    story.merge("a");
    story.answerMain({ phase: "verification", data: { status: "failed", summary: "it does not run" } });
    expect(story.run.status).toBe("error");
    expect(outcome(story.run, [], story.now)).toMatchObject({ outcome: "failed", error: "it does not run" });
  });
});

describe("An unusable answer", () => {
  it("is requested twice more with its problems, then the run fails", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain(null, { problems: ["no block"] });
    expect(story.run.owed).toMatchObject({ phase: "analysis", try: 2, problems: ["no block"] });
    expect(story.run.main!.turn!.number).toBe(2);
    story.answerMain(null, { problems: ["still none"] });
    story.answerMain(null, { problems: ["never"] });
    expect(story.run.status).toBe("error");
    expect(story.run.errors.at(-1)!.error).toContain("never");
  });

  it("such as a plan with a cycle, an unknown dependency or a duplicate id is presented with its errors after two more tries and cannot be confirmed", () => {
    const bad = taskList([
      { id: "a", dependencies: ["b"] },
      { id: "b", dependencies: ["a"] },
    ]);
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    for (let i = 0; i < 2; i++) {
      story.answerMain(bad);
      expect(story.run.status).toBe("planning");
    }
    story.answerMain(bad);
    expect(story.run.status).toBe("confirming");
    expect(story.run.planErrors.join()).toContain("a → b → a");
    const unchanged = story.run;
    expect(() => story.do({ type: "confirm" })).toThrow(expect.objectContaining({ code: "invalid_plan" }));
    expect(story.run).toBe(unchanged);
  });

  it("of a worker is requested again in the same session, then only that task fails", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b", dependencies: ["a"] }, { id: "c" }]);
    story.spawn("a");
    for (let i = 0; i < 3; i++) story.answerWorker("a", null, { problems: ["no block"] });
    expect(story.run.workers["a"]).toMatchObject({ status: "failed", attempt: 1 });
    expect(story.run.blocked).toEqual({ b: ["a"] });
    story.spawn("c");
    story.succeed("c");
    story.merge("c");
    story.answerMain(MERGED);
    expect(outcome(story.run, [], story.now)).toMatchObject({
      outcome: "degraded",
      census: { planned: 3, completed: 1, failed: 1, blocked: 1 },
      causes: [
        { taskId: "a", status: "failed" },
        { taskId: "b", status: "blocked", reason: "needs a" },
      ],
    });
  });
});

describe("Data that no session gave", () => {
  const failedAnalysis = () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    for (let i = 0; i < 3; i++)
      story.answerMain(null, { problems: ["no block"], said: "The analysis is complete.", itemId: "item_1" });
    return story;
  };

  it("can be supplied by the user, and the run continues where it failed (D0-081)", () => {
    const story = failedAnalysis();
    expect(story.run).toMatchObject({ status: "error", inbox: { item_1: { kind: "data", phase: "analysis" } } });
    story.do({
      type: "supply",
      itemId: "item_1",
      answer: { phase: "analysis", data: { summary: "by hand", recommended_splits: 1 } },
    });
    expect(story.run).toMatchObject({
      status: "planning",
      currentPhase: "taskPlanning",
      analysis: { summary: "by hand" },
      inbox: {},
      completedAt: null,
    });
    expect(schedule(story.run, { freeSlots: 1 }, story.now).spawnMain).toBe(true);
  });

  it("is rejected for another phase, the second time, and as text", () => {
    const story = failedAnalysis();
    const refusal = expect.objectContaining({ code: "wrong_state" });
    expect(() =>
      story.do({ type: "supply", itemId: "item_1", answer: { phase: "verification", data: { status: "passed" } } }),
    ).toThrow(refusal);
    expect(() => story.do({ type: "answer", itemId: "item_1", answer: { text: "fine" } })).toThrow(refusal);
    const supply = {
      type: "supply",
      itemId: "item_1",
      answer: { phase: "analysis", data: { summary: "s", recommended_splits: 1 } },
    } as const;
    story.do(supply);
    expect(() => story.do(supply)).toThrow(expect.objectContaining({ code: "item_not_found" }));
  });
});

describe("A worker's report", () => {
  it("of files that its work does not show is a warning in the outcome, which is degraded", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const missing = Array.from({ length: 7 }, (_, i) => `lost-${i}.md`);
    const work = { commit: "work", files: ["a.md"], head: null, unproven: { missing, unchanged: ["b.md"] } };
    story.answerWorker("a", { phase: "completion", data: { task_id: "a", status: "success" } }, { work });
    expect(story.run.workers["a"]!.status).toBe("completed");
    const named = missing.slice(0, 5).map((name) => `"${name}"`);
    expect(outcome(story.run, [], 0).warnings).toEqual([
      `a: it reported files that do not exist: ${named.join(", ")} (and 2 more).`,
      'a: it reported files that it did not change: "b.md".',
    ]);
    expect(completedVerdict(story.run)).toBe("degraded");
    expect(outcome(story.run, [], 0).causes).toMatchObject([{ taskId: "a", status: "contradicted" }]);
  });

  it("of success without a tool call that succeeded or a change is a failure, unless the template accepts it", () => {
    const claim = { phase: "completion", data: { task_id: "a", status: "success" } } as const;
    const nothing = { commit: "base", files: [], head: null };
    const strict = new Story().execute([{ id: "a" }]);
    strict.spawn("a");
    strict.answerWorker("a", claim, { work: nothing });
    expect(strict.run.workers["a"]).toMatchObject({
      status: "failed",
      error: "reported success, but called no tool and changed nothing",
    });
    expect(strict.run.status).toBe("error");
    const failing = new Story().execute([{ id: "a" }]);
    failing.spawn("a");
    failing.answerWorker("a", claim, { work: nothing, toolStats: { ...NO_TOOLS, total: 2, bash: 2, failed: 2 } });
    expect(failing.run.workers["a"]).toMatchObject({
      status: "failed",
      errorCode: "no_work",
      error: "reported success, but had no tool call that succeeded (2 failed) and changed nothing",
    });
    const lenient = new Story(makeTemplate({ config: { acceptWithoutWork: true } })).execute([{ id: "a" }]);
    lenient.spawn("a");
    lenient.answerWorker("a", claim, { work: nothing });
    expect(lenient.run.workers["a"]!.status).toBe("completed");
  });

  it("of partial success counts as completed, is listed among the causes and degrades the run", () => {
    const story = new Story(makeTemplate({ phases: { verification: { enabled: false } } })).execute([{ id: "a" }]);
    story.spawn("a");
    const work = { commit: "c", files: ["x"], head: null };
    story.answerWorker(
      "a",
      { phase: "completion", data: { task_id: "a", status: "partial", summary: "half of it" } },
      { work },
    );
    story.merge("a");
    expect(outcome(story.run, ["x"], story.now)).toMatchObject({
      outcome: "degraded",
      census: { planned: 1, completed: 1 },
      causes: [{ taskId: "a", status: "partial", reason: "half of it" }],
    });
  });

  it("whose work conflicts degrades the run", () => {
    const story = new Story(
      makeTemplate({ phases: { aggregation: { enabled: false }, verification: { enabled: false } } }),
    ).execute([{ id: "a" }]);
    story.spawn("a");
    story.succeed("a");
    const conflict = { type: "file_conflict", files: ["x"], tasks: ["a", "b"], resolution: null, refs: [] };
    const commit = story.run.workers["a"]!.commit!;
    story.do({ type: "conflicted", taskId: "a", commit, head: "after-a", conflict });
    expect(outcome(story.run, [], story.now)).toMatchObject({
      status: "completed",
      outcome: "degraded",
      conflicts: [conflict],
    });
  });

  it("from an outdated session changes nothing", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const old = story.run.workers["a"]!.sessionId;
    story.do({ type: "lost", sessionId: old, reason: "gone", counted: true });
    story.spawn("a");
    expect(story.run.workers["a"]).toMatchObject({ attempt: 2, retryCount: 0 });
    const unchanged = story.run;
    const answer = { phase: "completion" as const, data: { task_id: "a", status: "success" as const } };
    const late = turnOver(answer, { work: { commit: "c", files: ["x"], head: null } });
    expect(story.do({ type: "turnOver", sessionId: old, turn: 1, over: late })).toEqual([]);
    expect(story.run).toBe(unchanged);
  });

  it("for a completed task changes nothing", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.succeed("a");
    const again = turnOver({ phase: "completion", data: { task_id: "a", status: "failed" } });
    expect(story.do({ type: "turnOver", sessionId, turn: 1, over: again })).toEqual([]);
    expect(story.run.workers["a"]!.status).toBe("completed");
  });
});

describe("A lost session", () => {
  it("is replaced without counting as a retry, and the task fails after three counted losses in a row", () => {
    const story = new Story().execute([{ id: "a" }]);
    for (let attempt = 1; attempt <= 3; attempt++) {
      story.spawn("a");
      expect(story.run.workers["a"]).toMatchObject({ attempt, retryCount: 0 });
      story.do({
        type: "lost",
        sessionId: story.run.workers["a"]!.sessionId,
        reason: "its keeper died",
        counted: true,
      });
    }
    expect(story.run.workers["a"]).toMatchObject({
      status: "failed",
      error: "its session was lost 3 times: its keeper died",
    });
  });

  it("that the engine stopped is replaced without a limit", () => {
    const story = new Story().execute([{ id: "a" }]);
    for (let i = 0; i < 10; i++) {
      story.spawn("a");
      story.do({ type: "lost", sessionId: story.run.workers["a"]!.sessionId, reason: "stopped", counted: false });
    }
    story.spawn("a");
    expect(story.run.workers["a"]).toMatchObject({ attempt: 11, status: "running" });
  });

  it("of the main agent is replaced in the middle of a phase, and the phase is asked again", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.do({ type: "lost", sessionId: story.run.main!.sessionId, reason: "gone", counted: true });
    expect(schedule(story.run, { freeSlots: 1 }, story.now).spawnMain).toBe(true);
    story.do({ type: "spawnMain" });
    expect(story.run.main!.sessionId).toBe("local___orch_000000000000_main_r1");
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    expect(story.run.main!.turn).toMatchObject({ number: 1, phase: "analysis" });
  });
});

describe("A session", () => {
  it("times out counted from its start, not from its last output", () => {
    const story = new Story(makeTemplate({ config: { workerTimeout: 20_000 } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId, startedAt } = story.run.workers["a"]!;
    expect(schedule(story.run, { freeSlots: 0 }, story.now).deadlines).toEqual([
      { sessionId, at: startedAt! + 20_000 },
    ]);
    story.do({ type: "expired", sessionId }, 20_001);
    expect(story.run.workers["a"]).toMatchObject({ status: "timeout", error: "Worker timed out after 20000ms" });
  });

  it("has no deadline while it waits for the user", () => {
    const story = new Story(makeTemplate({ config: { workerTimeout: 20_000 } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId, startedAt } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "q", itemId: "item_1", question: "Which one?" });
    expect(schedule(story.run, { freeSlots: 0 }, story.now).deadlines).toEqual([]);
    story.do({ type: "answer", itemId: "item_1", answer: { text: "the second" } }, 100_000);
    expect(story.run.workers["a"]!.session.asks).toEqual({ q: "the second" });
    expect(schedule(story.run, { freeSlots: 0 }, story.now).deadlines).toEqual([
      { sessionId, at: startedAt! + 120_000 },
    ]);
  });

  it("that repeats a question after its adoption creates no second item", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "q", itemId: "item_1", question: "Which one?" });
    story.do({ type: "answer", itemId: "item_1", answer: { text: "this" } });
    expect(story.do({ type: "asked", sessionId, askId: "q", itemId: "item_2", question: "Which one?" })).toEqual([]);
  });

  it("gets the user's answer to the same question of its lost predecessor", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    const first = story.run.workers["a"]!.sessionId;
    story.do({ type: "asked", sessionId: first, askId: "q", itemId: "item_1", question: "Which one?" });
    story.do({ type: "answer", itemId: "item_1", answer: { text: "this" } });
    story.do({ type: "lost", sessionId: first, reason: "it was stopped", counted: false });
    story.spawn("a");
    const second = story.run.workers["a"]!.sessionId;
    story.do({ type: "asked", sessionId: second, askId: "q", itemId: "item_2", question: "Which one?" });
    expect(story.run.inbox).toEqual({});
    expect(story.run.workers["a"]!.session.asks).toEqual({ q: "this" });
    story.do({ type: "asked", sessionId: second, askId: "r", itemId: "item_3", question: "And this?" });
    expect(Object.keys(story.run.inbox)).toEqual(["item_3"]);
  });

  it("that times out in a phase is replaced once, then the run waits for the user", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    for (const status of ["analyzing", "paused"]) {
      story.do({ type: "spawnMain" });
      story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
      expect(story.do({ type: "expired", sessionId: story.run.main!.sessionId }, 100_000)).toEqual([]);
      story.do({ type: "expired", sessionId: story.run.main!.sessionId }, 20_000);
      expect(story.run.status).toBe(status);
    }
  });
});

describe("An order of the user", () => {
  it("is rejected with wrong_state and changes nothing if the state does not allow it", () => {
    const refusal = expect.objectContaining({ code: "wrong_state" });
    const story = new Story();
    expect(() => story.do({ type: "confirm" })).toThrow(refusal);
    story.plan([{ id: "a" }]);
    const unchanged = story.run;
    expect(() => story.do({ type: "start", base: "x", warnings: [] })).toThrow(refusal);
    expect(story.run).toBe(unchanged);
    story.do({ type: "cancel" });
    expect(() => story.do({ type: "cancel" })).toThrow(refusal);
    expect(() => story.do({ type: "confirm" })).toThrow(refusal);
  });

  it("to cancel counts active tasks as cancelled and the rest as never started", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }, { id: "c" }]);
    story.spawn("a");
    story.spawn("b");
    story.succeed("b");
    story.do({ type: "cancel" });
    expect(census(story.run)).toEqual({
      planned: 3,
      completed: 1,
      failed: 0,
      timeout: 0,
      cancelled: 1,
      skipped: 0,
      blocked: 0,
      neverStarted: 1,
    });
    expect(outcome(story.run, [], story.now).outcome).toBe("cancelled");
  });
});
