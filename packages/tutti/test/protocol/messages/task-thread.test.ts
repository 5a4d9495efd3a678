import { describe, expect, it } from "vitest";
import { readAgentMessage } from "../../../src/protocol/messages/agent-message.ts";
import type { AgentMessage, TaskAssignment } from "../../../src/protocol/messages/message-reading.ts";
import { followTask, mayStart } from "../../../src/protocol/messages/task-thread.ts";
import { receivedAt } from "../canonical/member-checks.ts";
import { chatAcknowledgment, chatAssignment, chatCompletion, rejection, resolution } from "./examples.ts";

function read(value: object): AgentMessage {
  const { message } = readAgentMessage(value, { profile: "lenient", receivedAt });
  if (!message) throw new Error("The message cannot be read");
  return message;
}

const task_id = chatAssignment.task_id;
const assignment = read(chatAssignment) as TaskAssignment;
const acknowledged = read(chatAcknowledgment);
const completed = read(chatCompletion);
const sentBack = read({ ...rejection, task_id, to_agent: "DEVELOPER", issues: ["Issue 1: no types", "Issue 2: slow"] });
const blocker = (more: object) =>
  read({ message_type: "BLOCKER_ESCALATION", task_id, from_agent: "DEVELOPER", description: "No design", ...more });
const resolved = (resume: boolean) => read({ ...resolution, task_id, to_agent: "DEVELOPER", resume_task: resume });

const stages = (...messages: AgentMessage[]) => followTask(assignment, messages).map(({ stage }) => stage);
const last = (...messages: AgentMessage[]) => followTask(assignment, messages).at(-1)!;

/** The completion again, with changed output and validation. */
function again(output: object, validation: object = {}): AgentMessage {
  return read({
    ...chatCompletion,
    output: { ...chatCompletion.output, ...output },
    validation: { ...chatCompletion.validation, ...validation },
  });
}

describe("the thread of a task", () => {
  it("has a stage and a waiting agent after every message", () => {
    const unsure = again({}, { all_passed: false });
    const threads = followTask(assignment, [
      acknowledged,
      blocker({ blocker_type: "scope_change" }),
      resolved(true),
      unsure,
      sentBack,
      again({ summary: "Typed the component and made it fast" }),
    ]);
    expect(threads.map(({ stage, waitsFor }) => [stage, waitsFor])).toEqual([
      ["assigned", "DEVELOPER"],
      ["acknowledged", "DEVELOPER"],
      ["blocked", "human"],
      ["acknowledged", "DEVELOPER"],
      ["refused", "ORCHESTRATOR"],
      ["rejected", "DEVELOPER"],
      ["approved", null],
    ]);
    expect(threads[2]?.reasons).toEqual(["No design"]);
    expect(threads[4]?.reasons).toEqual(['"validation.all_passed" is not true.']);
  });

  it("of the document's example ends in approval, and the blocked task may start", () => {
    expect(assignment.requirements).toHaveLength(4);
    expect(assignment.acceptance_criteria).toHaveLength(5);
    expect(stages(acknowledged, completed)).toEqual(["assigned", "acknowledged", "approved"]);
    const testing = read({ ...chatAssignment, task_id: "test_1", to_agent: "TESTING", blocked_by: task_id });
    const waits = testing as TaskAssignment;
    const isApproved = (messages: AgentMessage[]) => (name: string) =>
      name === task_id && last(...messages).stage === "approved";
    expect(mayStart(waits, isApproved([acknowledged]))).toBe(false);
    expect(mayStart(waits, isApproved([acknowledged, completed]))).toBe(true);
    expect(mayStart({ blocked_by: [task_id, "another"] }, isApproved([completed]))).toBe(false);
    for (const nothing of [null, undefined, []]) expect(mayStart({ blocked_by: nothing }, () => false)).toBe(true);
    expect(last(again({}, { acceptance_criteria_met: [true, true, true, true, false] })).stage).toBe("refused");
  });

  it("ignores messages about another task and a late acknowledgment", () => {
    const other = read({ ...chatCompletion, task_id: "another" });
    expect(stages(other)).toEqual(["assigned"]);
    expect(stages(completed, acknowledged)).toEqual(["assigned", "approved", "approved"]);
  });

  it("stops at a blocker until it is resolved, and for good if the task is not resumed", () => {
    const stuck = blocker({ blocker_type: "technical_blocker" });
    expect(last(acknowledged, stuck)).toEqual({ stage: "blocked", waitsFor: "ORCHESTRATOR", reasons: ["No design"] });
    expect(stages(stuck, blocker({ severity: "critical" }), acknowledged).slice(1)).toEqual(Array(3).fill("blocked"));
    expect(last(stuck, blocker({ severity: "critical" }), resolved(true)).stage).toBe("assigned");
    expect(last(stuck, resolved(false))).toMatchObject({ stage: "stopped", waitsFor: null });
    expect(last(resolved(true)).stage).toBe("assigned");
  });
});

describe("a rejected task", () => {
  const done = again({ summary: "Typed the component and made it fast" });

  it("continues only with another completion", () => {
    const before = [completed, sentBack];
    expect(last(...before)).toMatchObject({ stage: "rejected", waitsFor: "DEVELOPER" });
    for (const message of [acknowledged, resolved(true), sentBack]) {
      expect(last(...before, message).stage).toBe("rejected");
    }
    expect(last(...before, done)).toEqual({ stage: "approved", waitsFor: null, reasons: [] });
  });

  it("is not approved while a listed issue remains", () => {
    const half = again({ summary: "Typed the component" }, { issues: ["Issue 2: slow"] });
    expect(last(completed, sentBack, half)).toEqual({
      stage: "refused",
      waitsFor: "ORCHESTRATOR",
      reasons: ["Not fixed: Issue 2: slow"],
    });
    const other = again({ summary: "Typed the component" }, { issues: ["Issue 3: the logo is old"] });
    expect(last(completed, sentBack, other).stage).toBe("approved");
    const failed = again({ summary: "Tried" }, { all_passed: false });
    expect(last(completed, sentBack, failed).stage).toBe("refused");
  });

  it("is not approved without a description of the fixes", () => {
    const reasons = ['"output.summary" does not describe the fixes.'];
    for (const summary of ["", " ", undefined, chatCompletion.output.summary]) {
      expect(last(completed, sentBack, again({ summary }))).toMatchObject({ stage: "refused", reasons });
    }
  });
});
