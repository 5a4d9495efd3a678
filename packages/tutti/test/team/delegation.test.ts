// The rules of delegation (document 002), without an engine: who is asked next, and what an answer changes.
import { describe, expect, it } from "vitest";
import { makeTemplate, Story } from "../run/make-run.ts";
import type { ReadMessage, TurnOver } from "../../src/run/command.ts";
import { schedule } from "../../src/run/schedule.ts";
import { teamMetrics } from "../../src/run/team/team-metrics.ts";
import { delegationRight } from "../../src/run/team/delegation.ts";
import type { RunEvent } from "../../src/schema/event.ts";

type Members = Record<string, unknown>;

const counted = (type: string, body: Members): ReadMessage => ({ type, body, exact: true, reasons: [], faults: [] });
const newTask = (taskId: string, mode = "code", more: Members = {}): ReadMessage =>
  counted("new_task", { taskId, delegatedToMode: mode, objective: `Do ${taskId}`, ...more });
const report = (taskId: string, result = "success", more: Members = {}): ReadMessage =>
  counted("attempt_completion", { taskId, result, summary: `${taskId} ${result}`, ...more });
const DONE = report("REQUEST");

const MODES = ["orchestrator", "code", "architect", "mediator"];

class DelegationStory extends Story {
  mode(taskId: string, messages: ReadMessage[], over: Partial<TurnOver> = {}): RunEvent[] {
    const said = messages.findLast(({ type, body }) => type === "attempt_completion" && body["taskId"] === taskId);
    const result = said?.body["result"];
    const status = result === "success" ? "success" : "failed";
    const data = { task_id: taskId, status, error: String(said?.body["summary"]) } as const;
    const isEnd = result === "success" || result === "failure";
    const work = { commit: `commit-of-${taskId}`, files: [`${taskId}.md`], head: null };
    return this.answerWorker(taskId, isEnd ? { phase: "completion", data } : null, { messages, work, ...over });
  }

  /** The task that the session is asked about: that of the main session, or of the worker of `parent`. */
  asked(parent?: string): string | undefined {
    return parent === undefined ? this.run.duty?.taskId : this.run.workers[parent]?.duty?.taskId;
  }

  reports(): [string, string, string][] {
    return (this.run.teamMessages ?? [])
      .filter(({ type }) => type === "attempt_completion")
      .map(({ taskId, body, state }) => [taskId, String(body["result"]), state]);
  }

  startable(): string[] {
    return schedule(this.run, { freeSlots: 9 }, this.now).spawn;
  }
}

/** A run whose main session has delegated `first`, confirmed by the user. */
class Team extends DelegationStory {
  constructor(...first: ReadMessage[]) {
    const roles = Object.fromEntries(MODES.map((name) => [name, { protocol: "delegation" }]));
    const phases = { analysis: { enabled: false }, aggregation: { enabled: false } };
    super(makeTemplate({ phases, roles, config: { autoRetry: false, maxWorkers: 1 } } as object));
    this.do({ type: "start", base: "base", warnings: [] });
    this.do({ type: "spawnMain" });
    this.do({ type: "ready", sessionId: this.run.main!.sessionId, start: "base" });
    this.main(...first);
    this.do({ type: "confirm" });
  }

  main(...messages: ReadMessage[]): RunEvent[] {
    return this.answerMain(null, { messages });
  }
}

describe("a delegated task", () => {
  it.each(["failed", "timeout", "cancelled", "lost"] as const)("that is %s returns to the parent once", (ending) => {
    const team = new Team(newTask("A"));
    team.spawn("A");
    const { sessionId } = team.run.workers["A"]!;
    if (ending === "failed") team.mode("A", [report("A", "failure")]);
    if (ending === "timeout") team.do({ type: "expired", sessionId }, 999_999_999);
    if (ending === "cancelled") team.do({ type: "cancelWorker", sessionId });
    if (ending === "lost") {
      for (let i = 0; team.run.workers["A"]!.status !== "failed" && i < 9; i++) {
        if (team.run.workers["A"]!.status === "pending") team.spawn("A");
        team.do({ type: "lost", sessionId: team.run.workers["A"]!.sessionId, reason: "killed", counted: true });
      }
    }
    expect(team.asked()).toBe("A");
    expect(team.reports()).toEqual([["A", "failure", "delivered"]]);
    // A turn that breaks off is repeated with the same report.
    team.answerMain(null, { ending: { kind: "interrupted", detail: "" } });
    expect(team.asked()).toBe("A");
    team.main(DONE);
    expect(team.reports()).toEqual([["A", "failure", "acted"]]);
    expect(team.run.status).toBe("error");
    expect(team.types().filter((type) => type === "lead:asked")).toHaveLength(1);
  });

  it("that the user skipped returns to the parent, which may delegate another one", () => {
    const team = new Team(newTask("A"));
    const other = new Team(newTask("A"), newTask("B"));
    expect(other.startable()).toEqual(["A"]);
    expect(team.asked()).toBeUndefined();
    const skipped = new Story(team.run.template);
    skipped.do({ type: "start", base: "base", warnings: [] });
    skipped.do({ type: "spawnMain" });
    skipped.do({ type: "ready", sessionId: skipped.run.main!.sessionId, start: "base" });
    skipped.answerMain(null, { messages: [newTask("A")] });
    skipped.do({ type: "confirm", changes: { tasks: { A: { skip: true } } } });
    expect(skipped.run.teamMessages).toMatchObject([{ taskId: "A", body: { summary: "The user skipped this task." } }]);
    skipped.answerMain(null, { messages: [newTask("B")] });
    expect(schedule(skipped.run, { freeSlots: 9 }, skipped.now).spawn).toEqual(["B"]);
  });

  it("gets a new attempt with the parent's answer to its question, and then the user's (V04, D2-025)", () => {
    const team = new Team(newTask("A"));
    team.spawn("A");
    team.mode("A", [report("A", "clarification_needed", { summary: "Tabs?" })]);
    expect(team.asked()).toBe("A");
    expect(team.run.workers["A"]!.status).toBe("running");
    team.main(newTask("A", "code", { context: "Use tabs." }));
    expect(team.run.workers["A"]).toMatchObject({ status: "pending", retryCount: 0 });
    team.spawn("A");
    expect(team.run.teamMessages!.at(-1)).toMatchObject({
      type: "new_task",
      body: { context: "Use tabs.", attempt: 2 },
    });
    team.mode("A", [report("A", "clarification_needed", { summary: "Width?" })]);
    team.main(report("REQUEST", "clarification_needed"));
    const [item] = Object.values(team.run.inbox);
    expect(item).toMatchObject({ kind: "blocker", taskId: "A", question: "Width?" });
    expect(team.asked()).toBeUndefined();
    team.do({ type: "answer", itemId: item!.id, answer: { text: "4" } }, 5000);
    team.spawn("A");
    const { blockerAgeMs } = teamMetrics(team.run, team.now + 60_000)!;
    expect([blockerAgeMs >= 5000, blockerAgeMs < 60_000]).toEqual([true, true]);
    const { context } = team.run.teamMessages!.at(-1)!.body;
    expect(context).toBe("Use tabs.\n\nYou asked: Width?\nThe answer is: 4");
    team.mode("A", [report("A")]);
    team.main(DONE);
    team.merge("A");
    expect(team.run).toMatchObject({ status: "completed", outcome: "success" });
  });

  it("in a conflict is settled by the mediator, whose result the parent gets (D2-026)", () => {
    const team = new Team(newTask("A"));
    team.spawn("A");
    team.mode("A", [report("A", "conflict_detected", { summary: "two specs disagree" })]);
    expect(team.asked()).toBeUndefined();
    expect(team.startable()).toEqual(["MED-A-1"]);
    team.spawn("MED-A-1");
    expect(team.run.workers["MED-A-1"]!.task.role).toBe("mediator");
    team.mode("MED-A-1", [report("MED-A-1")]);
    expect(team.asked()).toBe("MED-A-1");
    team.main(newTask("A", "code", { context: "the first one" }));
    team.merge("MED-A-1");
    team.spawn("A");
    team.mode("A", [report("A")]);
    expect(team.asked()).toBe("A");
    team.main(DONE);
    team.merge("A");
    expect(team.run.outcome).toBe("success");
    expect(team.reports().filter(([id]) => id === "A")).toEqual([
      ["A", "conflict_detected", "acted"],
      ["A", "success", "acted"],
    ]);
  });

  it("whose criteria are not all met is delegated again, up to the limit (D2-017, V06)", () => {
    const team = new Team(newTask("A", "code", { acceptanceCriteria: ["It works.", "It is fast."] }));
    for (let attempt = 1; attempt <= 3; attempt++) {
      team.spawn("A");
      team.mode("A", [report("A")]);
      const events = team.main({ ...DONE, body: { ...DONE.body, acceptanceCriteriaMet: [true, false] } });
      const judged = events.flatMap((event) => (event.type === "criterion:judged" ? [event.data] : []));
      expect(judged.map(({ criterion, met, by }) => [criterion, met, by])).toEqual([
        ["It works.", true, "orchestrator"],
        ["It is fast.", false, "orchestrator"],
      ]);
      const { delegation } = team.run.tasks[0]!;
      // The next attempt starts from the rejected work.
      if (attempt < 3) expect(delegation).toMatchObject({ start: "commit-of-A", rejections: attempt });
    }
    expect(team.run.workers["A"]).toMatchObject({ attempt: 3, status: "failed", errorCode: "rejected" });
    expect(team.run.status).toBe("error");
  });

  it("may be delegated again after it failed, but not without an end", () => {
    const team = new Team(newTask("A"));
    for (let attempt = 1; attempt <= 3; attempt++) {
      team.spawn("A");
      team.mode("A", [report("A", "failure")]);
      team.main(newTask("A"));
    }
    expect(team.run.workers["A"]).toMatchObject({ attempt: 3, status: "failed" });
    expect(team.run.owed!.problems).toEqual([expect.stringContaining("delegated again 2 times already")]);
    team.main(newTask("B"));
    expect(team.startable()).toEqual(["B"]);
  });
});

describe("a session that delegates", () => {
  it("waits without a slot and a deadline, and reports after all its tasks have returned (D2-003)", () => {
    const team = new Team(newTask("A", "architect"));
    team.spawn("A");
    team.mode("A", [newTask("B"), newTask("C"), report("A")]);
    expect(team.run.workers["A"]).toMatchObject({ status: "running", delegating: {} });
    const { deadlines } = schedule(team.run, { freeSlots: 9 }, team.now);
    expect(deadlines).toEqual([]);
    expect(team.startable()).toEqual(["B"]);
    team.spawn("B");
    team.mode("B", [report("B")]);
    expect(team.asked("A")).toBe("B");
    expect(team.asked()).toBeUndefined();
    // A report while a task is open only accepts the one that returned.
    team.mode("A", [report("A")]);
    expect(team.run.workers["B"]!.status).toBe("completed");
    expect(team.run.workers["A"]).toMatchObject({ status: "running", duty: null });
    team.spawn("C");
    team.mode("C", [report("C")]);
    team.mode("A", [report("A")]);
    expect(team.asked()).toBe("A");
    team.main(DONE);
    for (const id of ["B", "C", "A"]) team.merge(id);
    expect(team.run.outcome).toBe("success");
    expect(team.reports().every(([, , state]) => state === "acted")).toBe(true);
  });

  it("continues only when a slot is free, because it left its own to its tasks", () => {
    const team = new Team(newTask("A", "architect"), newTask("C"));
    team.spawn("A");
    team.mode("A", [newTask("A1")]);
    team.spawn("C");
    expect(team.startable()).toEqual([]);
    // A task that never had a slot returns.
    team.append({ type: "task:blocked", data: { id: team.run.id, taskId: "A1", because: [] } });
    team.do({ type: "tick" });
    expect(team.reports()).toEqual([["A1", "failure", "queued"]]);
    expect(team.asked("A")).toBeUndefined();
    team.mode("C", [report("C")]);
    expect(team.asked("A")).toBe("A1");
  });

  it("does not take the slot of a worker that waits for the verdict of its lead", () => {
    const roles = { TEAM_LEAD: {}, code: { protocol: "delegation" }, DESIGNER: { protocol: "messages" } };
    const config = { autoRetry: false, maxWorkers: 2 };
    const story = new DelegationStory(makeTemplate({ roles, config } as object));
    story.execute([
      { id: "A", role: "code" },
      { id: "D", role: "DESIGNER" },
    ] as never);
    story.spawn("A");
    story.mode("A", [newTask("A1"), newTask("A2")]);
    story.spawn("A1");
    story.spawn("D");
    const completed = counted("TASK_COMPLETION", { task_id: "D", validation: { all_passed: true } });
    const answer = { phase: "completion", data: { task_id: "D", status: "success" } } as const;
    const work = { commit: "commit-of-D", files: ["D.md"], head: null };
    story.answerWorker("D", answer, { messages: [completed], work });
    expect(story.run.workers["D"]!.awaits).toMatchObject({ kind: "verdict" });
    // D may be rejected, and then continues beside A1. So there is no slot for A.
    story.append({ type: "task:blocked", data: { id: story.run.id, taskId: "A2", because: [] } });
    story.do({ type: "tick" });
    expect(story.asked("A")).toBeUndefined();
    story.mode("A1", [report("A1")]);
    expect(story.asked("A")).toBeDefined();
  });

  it("ends with its tasks if it fails, is cancelled or loses its session", () => {
    for (const ending of ["failed", "cancelled", "lost"]) {
      const team = new Team(newTask("A", "architect"));
      team.spawn("A");
      team.mode("A", [newTask("B"), newTask("C")]);
      team.spawn("B");
      const { sessionId } = team.run.workers["A"]!;
      if (ending === "failed") team.do({ type: "unpreparable", sessionId, code: "x", error: "broken" });
      if (ending === "cancelled") team.do({ type: "cancelWorker", sessionId });
      if (ending === "lost") team.do({ type: "lost", sessionId, reason: "killed", counted: true });
      expect(team.run.workers["B"]!.status).toBe("cancelled");
      expect(team.run.blocked).toEqual({ C: [] });
      expect(team.asked()).toBe(ending === "lost" ? undefined : "A");
      if (ending !== "lost") continue;
      // The next session may delegate the same task again.
      team.spawn("A");
      team.mode("A", [newTask("B"), newTask("C")]);
      expect(team.run.blocked).toEqual({});
      expect(team.startable()).toEqual(["B"]);
    }
  });

  it("gets the report of a task that failed", () => {
    const team = new Team(newTask("A", "architect"));
    team.spawn("A");
    team.mode("A", [newTask("B")]);
    team.spawn("B");
    team.do({ type: "cancelWorker", sessionId: team.run.workers["B"]!.sessionId });
    expect(team.asked("A")).toBe("B");
    expect(team.reports()).toEqual([["B", "failure", "delivered"]]);
    team.mode("A", [report("A")]);
    expect(team.reports()[0]).toEqual(["B", "failure", "acted"]);
    expect(team.asked()).toBe("A");
  });

  it("cannot complete the request before it got the report of a task that failed when the run paused", () => {
    const team = new Team(newTask("A"), newTask("B"));
    team.spawn("A");
    team.do({ type: "cancelWorker", sessionId: team.run.workers["A"]!.sessionId });
    expect(team.asked()).toBe("A");
    team.spawn("B");
    const ending = { kind: "error", cause: "billing", detail: "no credit" } as const;
    team.answerWorker("B", null, { ending });
    expect(team.run).toMatchObject({ status: "paused", workers: { B: { status: "failed" } } });
    team.main(DONE);
    expect(team.run.leadReport).toBeUndefined();
    team.do({ type: "resume" });
    expect(team.asked()).toBe("B");
    team.main(DONE);
    expect(team.run.leadReport).toBeDefined();
  });

  it("is asked again after a delegation that is not possible", () => {
    const team = new Team(newTask("A", "architect"));
    team.spawn("A");
    const refused: [ReadMessage[], string][] = [
      [[newTask("B", "wizard")], 'names the mode "wizard". The modes are: code, architect, mediator.'],
      [[newTask("A")], "Task A exists already."],
    ];
    for (const [messages, problem] of refused) {
      team.mode("A", messages);
      expect(team.run.workers["A"]!.owed!.problems.join(" ")).toContain(problem);
    }
    const events = team.mode("A", [newTask("main"), newTask("X"), newTask("X"), newTask("Y", "orchestrator")]);
    expect(events.find(({ type }) => type === "worker:failed")).toBeDefined();
    expect(team.run.tasks.map(({ id }) => id)).toEqual(["A"]);
  });

  it("cannot delegate deeper than the budget allows", () => {
    const team = new Team(newTask("T1", "architect"));
    for (let depth = 1; depth <= 5; depth++) {
      team.spawn(`T${depth}`);
      team.mode(`T${depth}`, [newTask(`T${depth + 1}`, "architect")]);
    }
    expect(team.run.tasks).toHaveLength(5);
    expect(team.run.workers["T5"]!.owed!.problems).toEqual([expect.stringContaining("levels deep")]);
  });
});

describe("a worker without a role", () => {
  const delegates = (): DelegationStory => {
    const story = new DelegationStory(makeTemplate({ config: { autoRetry: false } }));
    story.execute([{ id: "A" }]);
    story.spawn("A");
    story.mode("A", [newTask("A-1", "any"), newTask("A-2", "any")]);
    return story;
  };

  it("waits for the tasks that it delegated, and gets each result once", () => {
    const run = delegates();
    expect(run.run.workers["A"]).toMatchObject({ status: "running", delegating: {} });
    expect(run.run.tasks[1]).toMatchObject({ delegation: { parent: "A", start: "commit-of-A" } });
    expect(run.startable()).toEqual(["A-1", "A-2"]);
    run.spawn("A-1");
    run.spawn("A-2");
    run.succeed("A-1");
    run.do({ type: "cancelWorker", sessionId: run.run.workers["A-2"]!.sessionId });
    expect(run.asked("A")).toBe("A-1");
    // A turn without an answer is repeated with the same report.
    run.answerWorker("A", null);
    expect(run.asked("A")).toBe("A-1");
    run.mode("A", [report("A")]);
    expect(run.run.workers["A-1"]!.status).toBe("completed");
    expect(run.asked("A")).toBe("A-2");
    run.mode("A", [report("A")]);
    expect(run.reports()).toEqual([
      ["A-1", "success", "acted"],
      ["A-2", "failure", "acted"],
    ]);
    expect(run.run.workers["A"]!.status).toBe("completed");
    expect(run.types().filter((type) => type === "lead:asked")).toHaveLength(2);
  });

  it("ends with its tasks", () => {
    const run = delegates();
    run.spawn("A-1");
    run.do({ type: "cancelWorker", sessionId: run.run.workers["A"]!.sessionId });
    expect(run.run.workers["A-1"]!.status).toBe("cancelled");
    expect(run.run.blocked).toEqual({ "A-2": [] });
  });

  it("delegates unless its role is assigned all tasks, or the tasks are nested too deeply", () => {
    const run = delegates();
    run.spawn("A-1");
    const { workers } = run.run;
    expect(delegationRight(run.run, workers["A-1"]!)).toEqual({ modes: [] });
    expect(delegationRight({ ...run.run, budget: { depth: 0 } }, workers["A-1"]!)).toEqual({
      refusal: expect.stringContaining("1 levels deep") as string,
    });
    expect(delegationRight(run.run, null)).toEqual({ refusal: expect.stringContaining("Plan the work") as string });
    const team = new Team(newTask("A"));
    team.spawn("A");
    expect(delegationRight(team.run, team.run.workers["A"]!)).toEqual({ modes: MODES.slice(1) });
    expect(delegationRight(team.run, null)).toEqual({ modes: MODES.slice(1) });
    const roles = { code: { ...team.run.template.roles!["code"]!, protocol: "messages" as const } };
    const assigned = { ...team.run, template: { ...team.run.template, roles } };
    expect(delegationRight(assigned, team.run.workers["A"]!)).toHaveProperty("refusal");
  });
});

describe("the main session of a team that delegates", () => {
  it("is asked again for a delegation, then waits for the user", () => {
    const team = new Team(newTask("A"));
    team.spawn("A");
    team.mode("A", [report("A")]);
    for (let tries = 0; tries < 3; tries++) team.main();
    expect(team.run).toMatchObject({ status: "paused", pausedFrom: { reason: "failure" } });
    const [item] = Object.values(team.run.inbox);
    team.do({ type: "answer", itemId: item!.id, answer: { option: 0 } });
    team.do({ type: "spawnMain" });
    team.do({ type: "ready", sessionId: team.run.main!.sessionId, start: "base" });
    expect(team.asked()).toBe("A");
    // The new session has all its tries.
    for (let tries = 0; tries < 2; tries++) team.main();
    expect(team.run.status).toBe("running");
    team.main(DONE);
    team.merge("A");
    expect(team.run.outcome).toBe("success");
  });

  it("may ask the user, and report a failure", () => {
    const team = new Team(newTask("A"));
    team.spawn("A");
    team.mode("A", [report("A")]);
    team.main(report("REQUEST", "clarification_needed", { summary: "Which licence?" }));
    const [item] = Object.values(team.run.inbox);
    expect(item).toMatchObject({ kind: "question", question: "Which licence?" });
    team.do({ type: "answer", itemId: item!.id, answer: { text: "MIT" } });
    expect(team.run.owed!.note).toContain("MIT");
    team.main(report("REQUEST", "failure", { summary: "no licence" }));
    expect(team.run).toMatchObject({ status: "error", outcome: "failed" });
  });
});
