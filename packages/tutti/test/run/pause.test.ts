import { describe, expect, it } from "vitest";
import { makeTemplate, Story, taskList } from "./make-run.ts";
import { deadlines, schedule } from "../../src/run/schedule.ts";
import { ORCHESTRATOR_STATUS } from "../../src/schema/status.ts";

const refusal = (story: Story, command: Parameters<Story["do"]>[0]): string => {
  const unchanged = story.run;
  try {
    story.do(command);
  } catch (error) {
    expect(story.run).toBe(unchanged);
    return (error as { code: string }).code;
  }
  return "accepted";
};

const wanted = (story: Story) => schedule(story.run, { freeSlots: 9 }, story.now);

describe("A pause of a run", () => {
  it("remembers status and phase, and the resume restores them (D4-271, D4-329, D4-330, D4-488, D4-489)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    expect(story.do({ type: "pause" })[0]).toMatchObject({
      type: "orchestrator:paused",
      data: { id: story.run.id, previousStatus: "running", previousPhase: "workerExecution", reason: "person" },
    });
    expect(story.run).toMatchObject({
      status: "paused",
      pausedFrom: { status: "running", phase: "workerExecution" },
    });
    const [resumed] = story.do({ type: "resume" });
    expect(resumed).toMatchObject({
      type: "orchestrator:resumed",
      data: { id: story.run.id, status: "running", phase: "workerExecution" },
    });
    expect(story.run).toMatchObject({ status: "running", pausedFrom: null });
  });

  it("starts nothing, pauses its workers and stops their timeouts (E24, E25)", () => {
    const story = new Story(makeTemplate({ config: { workerTimeout: 10_000 } })).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    expect(story.run.workers["a"]).toMatchObject({ status: "paused", pausedBy: "run" });
    expect(wanted(story)).toMatchObject({ spawn: [], spawnMain: false, deadlines: [] });
    expect(story.do({ type: "spawn", taskId: "b" })).toEqual([]);
    story.do({ type: "resume" }, 60_000);
    expect(story.run.workers["a"]!.status).toBe("running");
    const [deadline] = deadlines(story.run);
    expect(deadline!.at).toBeGreaterThan(story.now + 9000);
    expect(wanted(story).spawn).toEqual(["b"]);
  });

  it("includes a worker that becomes ready meanwhile, but not one that the user paused before (E24)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "pauseWorker", sessionId: story.run.workers["a"]!.sessionId });
    story.do({ type: "spawn", taskId: "b" });
    story.do({ type: "pause" });
    story.do({ type: "ready", sessionId: story.run.workers["b"]!.sessionId, start: "base" });
    expect(story.run.workers["b"]).toMatchObject({ status: "paused", pausedBy: "run" });
    story.do({ type: "resume" });
    expect(story.run.workers["b"]!.status).toBe("running");
    expect(story.run.workers["a"]).toMatchObject({ status: "paused", pausedBy: "person" });
  });

  it("is possible in every status between start and end, and rejected in all others without a change (D4-329, D4-330, D4-563/E22, E23)", () => {
    const pausable = ["analyzing", "planning", "confirming", "spawning", "running", "aggregating", "verifying"];
    const template = makeTemplate({ phases: { verification: { enabled: true } } });
    const reached = new Set<string>();
    const story = new Story(template);
    const look = () => {
      const { status } = story.run;
      reached.add(status);
      const possible = pausable.includes(status);
      expect(refusal(story, { type: "pause" }), status).toBe(possible ? "accepted" : "wrong_state");
      if (!possible) return;
      expect(story.run).toMatchObject({ status: "paused", pausedFrom: { status } });
      expect(refusal(story, { type: "pause" })).toBe("wrong_state");
      story.do({ type: "resume" });
      expect(story.run).toMatchObject({ status, pausedFrom: null });
    };
    const answerMain = (answer: Parameters<Story["answerMain"]>[0]) => {
      look();
      story.answerMain(answer);
    };
    look();
    story.do({ type: "start", base: "base", warnings: [] });
    look();
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 2 } });
    answerMain(taskList([{ id: "a" }, { id: "b" }]));
    look();
    story.do({ type: "confirm" });
    look();
    for (const id of ["a", "b"]) story.spawn(id);
    look();
    for (const id of ["a", "b"]) {
      story.succeed(id);
      story.merge(id);
    }
    answerMain({ phase: "aggregation", data: { status: "success" } });
    answerMain({ phase: "verification", data: { status: "passed" } });
    look();
    expect(refusal(story, { type: "resume" })).toBe("wrong_state");
    expect(refusal(story, { type: "cancel" })).toBe("wrong_state");
    expect([...reached].toSorted()).toEqual(
      Object.values(ORCHESTRATOR_STATUS)
        .filter((status) => !["paused", "error", "cancelled"].includes(status))
        .toSorted(),
    );
  });

  it("repeats an interrupted turn with its unfinished work and counts no try (E24)", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    story.answerWorker("a", null, { ending: { kind: "interrupted", detail: "" } });
    expect(story.run.workers["a"]).toMatchObject({ status: "paused", owed: { try: 1, interrupted: true } });
    expect(story.run.workers["a"]!.session.turn).toBeNull();
    story.do({ type: "resume" });
    expect(story.run.workers["a"]!.session.turn).toMatchObject({ number: 2, try: 1 });
  });

  it("accepts the answer of a session that finished just before the interrupt", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    story.succeed("a");
    expect(story.run.workers["a"]!.status).toBe("completed");
    expect(story.run.status).toBe("paused");
    story.do({ type: "resume" });
    expect(story.run.status).toBe("running");
  });

  it("resumes in the phase that an answer during the pause led to", () => {
    const story = new Story();
    story.do({ type: "start", base: "base", warnings: [] });
    story.do({ type: "spawnMain" });
    story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
    story.do({ type: "pause" });
    story.answerMain({ phase: "analysis", data: { summary: "s", recommended_splits: 1 } });
    expect(story.run).toMatchObject({ status: "paused", currentPhase: "taskPlanning" });
    expect(story.run.main!.turn).toBeNull();
    story.do({ type: "resume" });
    expect(story.run.status).toBe("planning");
    expect(story.run.main!.turn).toMatchObject({ phase: "taskPlanning" });
  });
});

describe("A single worker", () => {
  it("is paused and resumed, keeps its slot, and its timeout stops (D4-356, D4-357, D4-500, D4-501, D4-569)", () => {
    const story = new Story(makeTemplate({ config: { maxWorkers: 1 } })).execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    expect(story.do({ type: "pauseWorker", sessionId })).toMatchObject([
      { type: "worker:paused", data: { sessionId, orchestratorId: story.run.id, taskId: "a" } },
    ]);
    expect(wanted(story)).toMatchObject({ spawn: [], sessions: [sessionId], deadlines: [] });
    expect(story.do({ type: "resumeWorker", sessionId }, 1000)).toEqual([
      { type: "worker:resumed", data: { sessionId, orchestratorId: story.run.id, taskId: "a" } },
    ]);
    expect(story.run.workers["a"]).toMatchObject({ status: "running", session: { waitedMs: 1000, pausedAt: null } });
  });

  it("is cancelled for good, frees its slot, and its dependents are blocked (D4-257, D4-355, D4-502, D4-568)", () => {
    const story = new Story(makeTemplate({ config: { maxWorkers: 1 } })).execute([
      { id: "a" },
      { id: "b" },
      { id: "c", dependencies: ["a"] },
    ]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    const events = story.do({ type: "cancelWorker", sessionId });
    expect(events.map(({ type }) => type)).toEqual(["worker:cancelled", "task:blocked"]);
    expect(events[0]!.data).toEqual({ sessionId, orchestratorId: story.run.id, taskId: "a" });
    expect(story.run.workers["a"]).toMatchObject({ status: "cancelled", completedAt: story.now });
    expect(wanted(story).spawn).toEqual(["b"]);
    expect(refusal(story, { type: "cancelWorker", sessionId })).toBe("wrong_state");
    expect(refusal(story, { type: "resumeWorker", sessionId })).toBe("wrong_state");
    expect(refusal(story, { type: "pauseWorker", sessionId: "nobody" })).toBe("worker_not_found");
  });

  it("can be cancelled while it is spawning and while it is paused (D4-257)", () => {
    for (const state of ["spawning", "paused"]) {
      const story = new Story(makeTemplate({ config: { maxWorkers: 1 } })).execute([{ id: "a" }, { id: "b" }]);
      story.do({ type: "spawn", taskId: "a" });
      const { sessionId } = story.run.workers["a"]!;
      if (state === "paused") {
        story.do({ type: "ready", sessionId, start: "base" });
        story.do({ type: "pauseWorker", sessionId });
      }
      expect(story.run.workers["a"]!.status).toBe(state);
      expect(wanted(story).spawn).toEqual([]);
      story.do({ type: "cancelWorker", sessionId });
      expect(story.run.workers["a"]).toMatchObject({ status: "cancelled", completedAt: story.now });
      expect(wanted(story).spawn).toEqual(["b"]);
    }
  });

  it("cannot be resumed while the whole run is paused", () => {
    const story = new Story().execute([{ id: "a" }]);
    story.spawn("a");
    story.do({ type: "pause" });
    expect(refusal(story, { type: "resumeWorker", sessionId: story.run.workers["a"]!.sessionId })).toBe("wrong_state");
  });
});

describe("Cancelling a run", () => {
  it("is possible in every status but an end, cancels its workers and withdraws its inbox items (D4-331, D4-490, D4-564)", () => {
    const story = new Story().execute([{ id: "a" }, { id: "b" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "asked", sessionId, askId: "1", itemId: "item_q", question: "?" });
    story.do({ type: "pause" });
    const events = story.do({ type: "cancel" });
    expect(events.at(-1)).toEqual({
      type: "orchestrator:cancelled",
      data: { id: story.run.id, phase: "workerExecution" },
    });
    expect(story.run).toMatchObject({ status: "cancelled", outcome: "cancelled", inbox: {} });
    expect(story.run.workers["a"]!.status).toBe("cancelled");
    for (const order of [{ type: "retry", taskId: "a" }, { type: "resume" }, { type: "cancel" }] as const)
      expect(refusal(story, order), "a cancelled run stays cancelled").toBe("wrong_state");
    const started = new Story();
    started.do({ type: "start", base: "base", warnings: [] });
    const planned = new Story().plan([{ id: "a" }]);
    for (const earlier of [new Story(), started, planned]) {
      expect(refusal(earlier, { type: "cancel" })).toBe("accepted");
      expect(earlier.run).toMatchObject({ status: "cancelled", inbox: {} });
    }
  });
});

describe("A clock jump or a sleep of the machine", () => {
  it("extends the deadline of every session by the lost time", () => {
    const story = new Story(makeTemplate({ config: { workerTimeout: 10_000 } })).execute([{ id: "a" }]);
    story.spawn("a");
    const { sessionId } = story.run.workers["a"]!;
    story.do({ type: "clockJumped", byMs: 3_600_000 }, 3_600_000);
    expect(story.do({ type: "expired", sessionId })).toEqual([]);
    expect(story.run.workers["a"]!.status).toBe("running");
    expect(story.do({ type: "expired", sessionId }, 11_000)[0]).toMatchObject({ type: "worker:timeout" });
  });
});
