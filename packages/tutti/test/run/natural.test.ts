// Runs in natural mode: one session with sub-agents of its own, without a plan.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "./make-run.ts";
import { census } from "../../src/run/census.ts";
import { outcome } from "../../src/run/outcome/outcome.ts";
import type { SubagentReport, TurnOver } from "../../src/run/command.ts";
import { deadlines, schedule } from "../../src/run/schedule.ts";
import type { Answer } from "../../src/schema/answer.ts";
import type { TemplateConfig } from "../../src/schema/template.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";

const OFF = { enabled: false };
const PHASES = {
  analysis: { timeout: 60_000 },
  taskPlanning: OFF,
  workerExecution: OFF,
  aggregation: OFF,
  verification: OFF,
};
const WORKED = { toolStats: { ...NO_TOOLS, total: 1, writes: 1 } };

function natural(config: Partial<TemplateConfig> = {}): Story {
  const story = new Story(makeTemplate({ config: { useSubSessions: true, ...config }, phases: PHASES }));
  story.do({ type: "start", base: "base", warnings: [] });
  story.do({ type: "spawnMain" });
  story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
  return story;
}

function report(story: Story, id: string, phase: "started" | "done", more: Partial<SubagentReport> = {}) {
  const childSessionId = `${story.run.main!.sessionId}/${id}`;
  const about = { taskToolId: null, parentSessionId: null, status: "completed" as const, text: `job ${id}` };
  const subagent = { childSessionId, phase, ...about, ...more };
  return story.do({ type: "subagent", sessionId: story.run.main!.sessionId, taskId: null, subagent });
}

const words = (summary: string): Answer => ({ phase: "analysis", data: { summary, recommended_splits: 1 } });
const answer = (story: Story, summary: string, over: Partial<TurnOver> = WORKED) =>
  story.answerMain(words(summary), over);

describe("a run in natural mode", () => {
  it("ends with the answer of its session and counts its sub-sessions", () => {
    const story = natural();
    for (const id of ["a", "b"]) report(story, id, "started");
    expect(census(story.run)).toMatchObject({ planned: 2, neverStarted: 2 });
    for (const id of ["a", "b"]) report(story, id, "done");
    answer(story, "Both pages are written.", { ...WORKED, work: { commit: "c", files: ["a.md"], head: "head-2" } });
    expect(story.run).toMatchObject({ status: "completed", outcome: "success", head: "head-2" });
    expect(census(story.run)).toMatchObject({ planned: 2, completed: 2, neverStarted: 0 });
  });

  it("starts no turn while sub-sessions are open, and the next one when all have ended", () => {
    const story = natural();
    for (const id of ["a", "b"]) report(story, id, "started");
    const ended = story.answerMain(null);
    expect(ended).toMatchObject([{ type: "turn:ended", data: { waits: true, problems: [] } }]);
    expect(story.run).toMatchObject({ status: "analyzing", owed: { try: 1 } });
    expect(schedule(story.run, { freeSlots: 1 }, story.now).sessions).toEqual([story.run.main!.sessionId]);
    expect(report(story, "a", "done").map(({ type }) => type)).toEqual(["subagent:ended"]);
    expect(report(story, "b", "done").map(({ type }) => type)).toEqual(["subagent:ended", "turn:started"]);
    answer(story, "Done.");
    expect(story.run).toMatchObject({ status: "completed", outcome: "success" });
  });

  it("continues beside open sub-sessions after a turn that failed, and receives their end only once", () => {
    const story = natural();
    report(story, "a", "started");
    const ending = { kind: "error", cause: "overloaded", detail: "busy" } as const;
    story.answerMain(null, { ending });
    story.do({ type: "tick" }, 3_600_000);
    expect(story.run.main!.turn).toMatchObject({ number: 2 });
    story.answerMain(null);
    expect(story.run.owed).toMatchObject({ waitedSince: story.now });
    report(story, "a", "done");
    expect(story.run.main!.turn).toMatchObject({ number: 3 });
    story.answerMain(null, { ending });
    expect(story.run.owed).not.toHaveProperty("waitedSince");
  });

  it("waits for sub-sessions only as long as its phase may take", () => {
    const story = natural();
    report(story, "a", "started");
    story.answerMain(null);
    const sessionId = story.run.main!.sessionId;
    expect(deadlines(story.run)).toEqual([{ sessionId, at: story.now + 60_000 }]);
    story.do({ type: "expired", sessionId }, 60_000);
    expect(story.types()).toContain("main:lost");
    // The sub-sessions of a lost session do not count for the next one.
    story.do({ type: "spawnMain" });
    expect(census(story.run)).toMatchObject({ planned: 0 });
  });

  it("is degraded if a sub-session failed or was stopped, and names it", () => {
    const story = natural();
    report(story, "a", "started");
    report(story, "a", "done", { status: "failed", text: "no network" });
    report(story, "b", "started");
    report(story, "b", "done", { status: "cancelled", text: null });
    answer(story, "Half of it is written.");
    expect(outcome(story.run, [], story.now)).toMatchObject({
      outcome: "degraded",
      census: { planned: 2, completed: 0, failed: 1, cancelled: 1 },
      causes: [
        { status: "failed", reason: "job a: no network" },
        { status: "cancelled", reason: "job b: cancelled" },
      ],
    });
  });

  it("counts open sub-sessions as cancelled when it is cancelled", () => {
    const story = natural();
    report(story, "a", "started");
    story.do({ type: "cancel" });
    expect(census(story.run)).toMatchObject({ planned: 1, cancelled: 1 });
  });

  it("is degraded or fails if its session says so", () => {
    const partly = natural();
    answer(partly, "Partly done: the second page is missing.");
    expect(outcome(partly.run, [], partly.now)).toMatchObject({
      outcome: "degraded",
      causes: [{ taskId: "main", status: "partial", reason: "the second page is missing." }],
    });
    const failed = natural();
    answer(failed, "**Failed:** there is no code.");
    expect(failed.run).toMatchObject({ status: "error", outcome: "failed" });
    expect(failed.run.errors.at(-1)).toMatchObject({ code: "reported_failure" });
  });

  it("does not accept plain words without any work, unless its template does", () => {
    const story = natural();
    for (let tries = 1; tries < 3; tries++) {
      answer(story, "Done.", { inWords: true });
      expect(story.run.owed).toMatchObject({ try: tries + 1, problems: [expect.stringContaining("called no tool")] });
    }
    answer(story, "Done.", { inWords: true });
    expect(story.run.errors.at(-1)).toMatchObject({ code: "no_work" });
    const lenient = natural({ acceptWithoutWork: true });
    answer(lenient, "Done.", { inWords: true });
    expect(lenient.run.outcome).toBe("success");
  });

  it("asks for more levels when a sub-session nests deeper than its budget allows", () => {
    const story = natural({ budget: { depth: 1 } });
    report(story, "a", "started");
    expect(story.run.status).toBe("analyzing");
    report(story, "b", "started", { parentSessionId: `${story.run.main!.sessionId}/a` });
    expect(story.run).toMatchObject({ status: "paused", pausedFrom: { reason: "budget" } });
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({ kind: "budget", evidence: { kind: "depth", used: 2, limit: 1 } });
    story.do({ type: "answer", itemId: item!.id, answer: { option: 0 } });
    expect(story.run).toMatchObject({ status: "analyzing", budget: { depth: 3 } });
  });
});
