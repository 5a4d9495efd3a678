// Waits in a team that could last for ever or repeat a message: rules without an engine.
import { describe, expect, it } from "vitest";
import { approvalOf, GateStory, gatedTemplate } from "./gate-story.ts";
import { completion, message, say } from "./team-scenario.ts";
import { makeTemplate, Story } from "../run/make-run.ts";
import type { ReadMessage } from "../../src/run/command.ts";
import { mayStandFor } from "../../src/run/rules/reuse.ts";
import { schedule } from "../../src/run/schedule.ts";
import { Template } from "../../src/schema/template.ts";

/** A team whose lead is about to judge the work of the developer. */
function submitted(): GateStory {
  const story = new GateStory();
  story.begin("developer");
  const body = { ...completion("DEVELOPER"), task_id: "developer" };
  const messages: ReadMessage[] = [{ type: "TASK_COMPLETION", body, exact: true, reasons: [], faults: [] }];
  const work = { commit: "work", files: [], head: null };
  const answer = { phase: "completion", data: { task_id: "developer", status: "success" } } as const;
  story.answerWorker("developer", answer, { messages, work });
  story.do({ type: "spawnMain" });
  story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
  return story;
}

const delegates = { orchestrator: { protocol: "delegation" }, code: { protocol: "delegation" } };
const OFF = { enabled: false };

/** A team that delegates, whose plan the user has replaced by a task without a role. */
function replaced(): Story {
  const base = makeTemplate();
  const phases = { ...base.phases, analysis: OFF, aggregation: OFF };
  const story = new Story(Template.parse({ ...base, phases, roles: delegates }));
  story.do({ type: "start", base: "base", warnings: [] });
  story.do({ type: "spawnMain" });
  story.do({ type: "ready", sessionId: story.run.main!.sessionId, start: "base" });
  const body = { taskId: "A", delegatedToMode: "code", objective: "Do A" };
  story.answerMain(null, { messages: [{ type: "new_task", body, exact: true, reasons: [], faults: [] }] });
  return story;
}

describe("the lead of a team", () => {
  it("asks the user with a question at the end of its turn, and gives its verdict after the answer", () => {
    const story = submitted();
    story.answerMain(null, { messages: [], question: "Is a draft enough?" });
    const [item] = Object.values(story.run.inbox);
    expect(item).toMatchObject({ kind: "question", question: "Is a draft enough?" });
    story.do({ type: "answer", itemId: item!.id, answer: { text: "yes" } });
    expect(story.run.owed).toMatchObject({ try: 1, note: expect.stringContaining("yes") as string });
    expect(story.run.main!.turn).not.toBeNull();
  });

  it("sends work back with an approval that says of a criterion that it is not met (D3-101, V06)", () => {
    const story = submitted();
    const approved = approvalOf("developer");
    const events = story.answerMain(null, {
      messages: [{ ...approved, body: { ...approved.body, acceptance_criteria_met: [false] } }],
    });
    expect(story.run.workers["developer"]).toMatchObject({ status: "failed", errorCode: "rejected" });
    expect(events.find(({ type }) => type === "criterion:judged")).toMatchObject({ data: { met: false } });
    const sent = story.run.teamMessages!.findLast(({ type }) => type === "TASK_REJECTION");
    expect(sent!.body).toMatchObject({ issues: ["Criterion not met: developer is done"] });
  });

  it("is followed to the end of a turn about a worker that was lost meanwhile, also by a new engine", () => {
    const story = submitted();
    const { sessionId } = story.run.main!;
    story.do({ type: "lost", sessionId: story.run.workers["developer"]!.sessionId, reason: "killed", counted: true });
    expect(story.run).toMatchObject({ owed: null, main: { turn: { number: 1 } } });
    expect(schedule(story.run, { freeSlots: 0 }, story.now)).toMatchObject({ sessions: [sessionId], idle: [] });
    story.answerMain(null, { messages: [] });
    expect(schedule(story.run, { freeSlots: 0 }, story.now)).toMatchObject({ sessions: [], idle: [sessionId] });
  });

  it("that delegates asks the user with a question, too", () => {
    const story = replaced();
    story.do({ type: "confirm" });
    story.spawn("A");
    const report = { taskId: "A", result: "success", summary: "done" };
    const messages = [{ type: "attempt_completion", body: report, exact: true, reasons: [], faults: [] }];
    const work = { commit: "work", files: ["a.md"], head: null };
    const answer = { phase: "completion", data: { task_id: "A", status: "success" } } as const;
    story.answerWorker("A", answer, { messages, work });
    story.answerMain(null, { messages: [], question: "Which licence?" });
    expect(Object.values(story.run.inbox)).toMatchObject([{ kind: "question", question: "Which licence?" }]);
  });

  it("that delegates holds up no run in which nothing returns to it", () => {
    const story = replaced();
    const own = { id: "own", title: "Own", description: "of the user", scope: [], priority: 5, dependencies: [] };
    story.do({ type: "confirm", changes: { removed: ["A"], added: [own] } });
    story.spawn("own");
    story.succeed("own");
    story.merge("own");
    expect(story.run.outcome).toBe("success");
  });
});

describe("a role", () => {
  it("that waits for the user's answer to its blocker gets the assignment once, and the answer after it", () => {
    const story = new GateStory(gatedTemplate({ team: { ackTimeout: 1000, resendLimit: 1 } }));
    story.begin("developer");
    const blocker = { blocker_type: "scope_change", severity: "high", description: "Which database?" };
    story.speak("developer", say(message("BLOCKER_ESCALATION", "DEVELOPER", blocker)));
    story.do({ type: "tick" }, 60_000);
    expect(story.types()).not.toContain("message:resent");
    const [item] = Object.values(story.run.inbox);
    story.do({ type: "answer", itemId: item!.id, answer: { text: "SQLite" } });
    expect(story.run.teamMessages!.map(({ type, state }) => [type, state])).toEqual([
      ["TASK_ASSIGNMENT", "acted"],
      ["BLOCKER_ESCALATION", "acted"],
      ["BLOCKER_RESOLUTION", "delivered"],
    ]);
  });

  it("gets its message with the last turn that the budget allows", () => {
    const template = gatedTemplate();
    const story = new GateStory({ ...template, config: { ...template.config, budget: { turns: 1 } } });
    story.begin("developer");
    expect(story.run).toMatchObject({ turns: 1, teamMessages: [{ type: "TASK_ASSIGNMENT", state: "delivered" }] });
  });
});

it("a fork takes over no delegated task, because the session that delegates it waits for the report", () => {
  const story = replaced();
  story.do({ type: "confirm" });
  story.do({ type: "spawn", taskId: "A" });
  const result = { origin: { run: "orch_1", sessionId: "s", seq: 1 } } as never;
  expect(mayStandFor(story.run, story.run.workers["A"]!, result)).toBe(false);
});
