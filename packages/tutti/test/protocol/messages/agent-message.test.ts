import { describe, expect, it } from "vitest";
import { escalationTarget } from "../../../src/protocol/messages/agent-message.ts";
import {
  having,
  leniently,
  moments,
  noMoment,
  noText,
  noTexts,
  optional,
  receivedAt,
  required,
  strictly,
  warningsOf,
} from "../canonical/member-checks.ts";
import * as examples from "./examples.ts";

const assignment = { ...examples.assignment, priority: "high" };
const { acknowledgment, completion, rejection, resolution } = examples;
const escalation = {
  ...examples.escalation,
  blocker_type: "clarification_needed",
  severity: "critical",
  escalate_to: "human",
};
const security = {
  ...examples.securityCompletion,
  approval_status: "APPROVED",
  timestamp: "2025-11-10T02:00:00Z",
};
const all = { assignment, acknowledgment, completion, rejection, escalation, resolution, security };

/** Checks that the message names its type and is not read as another type. */
function named(message: Record<string, unknown>, type: string): void {
  expect(message.message_type).toBe(type);
  expect(strictly("messages", message)).toEqual({ message, problems: [] });
  for (const other of [type.toLowerCase(), "TASK_UPDATE", "", undefined, 1]) {
    expect(strictly("messages", having(message, "message_type", other)).message).toBeNull();
  }
}

it("every message that Tutti writes has a task, a sender and a timestamp (D3-002, D3-034, D3-047, D3-057)", () => {
  const ownSenders = new Map<object, string[]>([
    [assignment, ["ORCHESTRATOR"]],
    [rejection, ["ORCHESTRATOR"]],
    [resolution, ["ORCHESTRATOR", "human"]],
  ]);
  for (const message of Object.values(all)) {
    required("messages", message, "task_id", ["dev_chat_msg_001"], ["", ...noText]);
    required("messages", message, "from_agent", ownSenders.get(message) ?? ["DEVELOPER", "human"], ["", ...noText]);
    required("messages", message, "timestamp", moments, noMoment);
  }
});

it("only a JSON object of one of the six types is a message, from any sender", () => {
  const talk = "I have finished the ChatMessage component.";
  const untyped = { task_id: "t", from_agent: "DEVELOPER", timestamp: moments[0], text: talk };
  const odd = { ...untyped, message_type: "STATUS_UPDATE" };
  for (const value of [talk, JSON.stringify(completion), 1, null, [completion], {}, untyped, odd]) {
    for (const { message, problems } of [strictly("messages", value), leniently("messages", value)]) {
      expect(message, JSON.stringify(value)).toBeNull();
      expect(problems).toMatchObject([{ severity: "error", sentence: expect.stringMatching(/\.$/) }]);
    }
  }
  for (const message of Object.values(all)) expect(strictly("messages", message).message).toEqual(message);
});

describe("an assignment", () => {
  it("goes from the orchestrator to an agent, with a name and an id (D3-006..D3-011)", () => {
    named(assignment, "TASK_ASSIGNMENT");
    required("messages", assignment, "task_id", ["unique_task_identifier"], [""]);
    required("messages", assignment, "from_agent", ["ORCHESTRATOR"], ["DEVELOPER", "human", "Team Lead", ""]);
    required("messages", assignment, "to_agent", ["DEVELOPER"], ["", ...noText]);
    required("messages", assignment, "timestamp", ["2025-11-09T21:00:00Z"], ["today"]);
    required("messages", assignment, "task_name", ["Build it"], noText);
  });

  it("has a priority, a deadline, requirements and criteria (D3-012..D3-015)", () => {
    optional("messages", assignment, "priority", ["high", "medium", "low"], ["critical", "HIGH", 2]);
    optional("messages", assignment, "deadline", moments, noMoment);
    required("messages", assignment, "requirements", [[], ["Support markdown"]], noTexts);
    required("messages", assignment, "acceptance_criteria", [[], ["✓ Types are correct"]], noTexts);
  });

  it("has a context with five members (D3-016..D3-020)", () => {
    optional("messages", assignment, "context", [{}], ["a", ["a"]]);
    for (const name of ["project", "phase", "tech_stack"]) {
      optional("messages", assignment, `context.${name}`, ["Text"], noText);
    }
    for (const name of ["reference_docs", "key_constraints"]) {
      optional("messages", assignment, `context.${name}`, [[], ["CLAUDE.md section"]], noTexts);
    }
  });

  it("names its blockers and related tasks (D3-021, D3-022)", () => {
    optional("messages", assignment, "blocked_by", [null, "task_1", ["task_1", "task_2"]], [1, {}, [1, 2]]);
    optional("messages", assignment, "related_tasks", [[], ["task_1"]], noTexts);
  });

  it("of a review lists the files to review (D3-084)", () => {
    optional("messages", assignment, "files_to_review", [[], ["components/*.tsx", "package.json"]], noTexts);
    expect(leniently("messages", examples.securityAssignment).message).toMatchObject({
      files_to_review: ["components/*.tsx", "api/*.ts", "services/*.ts", "package.json"],
    });
  });

  it("is rejected even leniently without a required member other than the sender (D3-005, D3-023/W01)", () => {
    const must = ["message_type", "task_id", "to_agent", "task_name", "requirements", "acceptance_criteria"];
    for (const name of must) {
      expect(leniently("messages", having(assignment, name, undefined)).message, name).toBeNull();
    }
    const { message, problems } = leniently("messages", having(assignment, "from_agent", undefined));
    expect(message).toEqual({ ...assignment, from_agent: "ORCHESTRATOR" });
    expect(problems).toMatchObject([{ path: "from_agent", code: "missing", severity: "warning" }]);
  });

  it("without criteria has a warning in both profiles (D3-005)", () => {
    for (const read of [strictly, leniently]) {
      const { message, problems } = read("messages", { ...assignment, acceptance_criteria: [] });
      expect(message).not.toBeNull();
      expect(problems).toMatchObject([{ path: "acceptance_criteria", code: "empty", severity: "warning" }]);
    }
  });
});

describe("an acknowledgment", () => {
  it("confirms the task with the agent's name and a timestamp (D3-024, D3-026..D3-028)", () => {
    named(acknowledgment, "TASK_ACKNOWLEDGMENT");
    required("messages", acknowledgment, "task_id", ["same_task_id"], [""]);
    required("messages", acknowledgment, "from_agent", ["DEVELOPER"], [""]);
    required("messages", acknowledgment, "status", ["acknowledged"], ["ok", "ACKNOWLEDGED", 1]);
    required("messages", acknowledgment, "timestamp", moments, noMoment);
  });

  it("has an estimate, a confirmation and open questions (D3-029..D3-031)", () => {
    optional("messages", acknowledgment, "estimated_completion", ["2025-11-10T02:00:00Z", "2 hours"], noText);
    optional("messages", acknowledgment, "understood", [true, false], ["yes", 1]);
    optional("messages", acknowledgment, "clarifications_needed", [[], ["Which colour?"], [{ a: 1 }]], ["a", {}]);
  });
});

describe("a completion", () => {
  it("has the status completed, and its output (D3-033, D3-035..D3-039)", () => {
    named(completion, "TASK_COMPLETION");
    required("messages", completion, "status", ["completed"], ["done", "failed", 1]);
    required("messages", completion, "output", [{}], ["a", ["a"]]);
    for (const name of ["files", "artifacts"])
      optional("messages", completion, `output.${name}`, [[], ["a.ts"]], noTexts);
    for (const name of ["code", "summary"]) optional("messages", completion, `output.${name}`, ["Text"], noText);
  });

  it("reports the criteria, the overall result, remaining issues and next steps (D3-040..D3-043)", () => {
    required("messages", completion, "validation", [{ all_passed: true }], ["a", {}, []]);
    optional("messages", completion, "validation.acceptance_criteria_met", [[], [true, true]], ["a", ["true"], true]);
    required("messages", completion, "validation.all_passed", [true, false], ["true", 1]);
    optional("messages", completion, "validation.issues", [[], ["Slow"], [{ severity: "low" }]], ["a", [1]]);
    optional("messages", completion, "next_steps", [[], ["Test it"]], noTexts);
  });

  it("has a warning if its overall result contradicts the criteria", () => {
    const validation = { acceptance_criteria_met: [true, false], all_passed: true };
    const { problems } = strictly("messages", { ...completion, validation });
    expect(problems).toMatchObject([{ path: "validation.all_passed", code: "mismatch", severity: "warning" }]);
  });

  it("of an auditor has the findings and the decision (D3-087..D3-089)", () => {
    expect(strictly("messages", security)).toEqual({ message: security, problems: [] });
    for (const name of ["critical", "high", "medium", "low"]) {
      optional("messages", security, `output.${name}_issues`, [[], ["A hole"], [{ file: "a.ts" }]], ["a", {}, [1]]);
    }
    optional("messages", security, "output.recommendations", [[], ["Rotate keys"]], ["a", {}, [1]]);
    for (const name of ["security", "production_readiness", "scalability"]) {
      optional("messages", security, `validation.${name}_passed`, [true, false], ["yes", 1]);
    }
    required("messages", security, "validation.all_passed", [true, false], ["yes", 1]);
    const words = ["APPROVED", "CONDITIONAL", "REJECTED"];
    optional("messages", security, "approval_status", words, ["approved", "YES", true]);
    optional("messages", security, "output.blocking_deployment", [true, false], ["no"]);
  });
});

describe("a rejection", () => {
  it("goes from the orchestrator to the agent with a reason, issues and the required action (D3-046..D3-052)", () => {
    named(rejection, "TASK_REJECTION");
    required("messages", rejection, "from_agent", ["ORCHESTRATOR"], ["DEVELOPER", "human", ""]);
    required("messages", rejection, "to_agent", ["DEVELOPER"], ["", ...noText]);
    required("messages", rejection, "reason", ["Too slow"], noText);
    required("messages", rejection, "issues", [[], ["Issue 1: a.ts"]], noTexts);
    optional("messages", rejection, "deadline", moments, noMoment);
    for (const name of ["action_required", "next_review"]) optional("messages", rejection, name, ["Text"], noText);
  });
});

describe("a blocker", () => {
  it("has a type, a severity, a description and options (D3-056, D3-058..D3-061)", () => {
    named(escalation, "BLOCKER_ESCALATION");
    required("messages", escalation, "from_agent", ["ARCHITECT", "TESTING", "ORCHESTRATOR", "Team Lead"], [""]);
    const types = ["clarification_needed", "technical_blocker", "dependency_missing", "scope_change"];
    required("messages", escalation, "blocker_type", types, ["critical_security_issue", "", 1]);
    optional("messages", escalation, "severity", ["critical", "high", "medium", "low"], ["fatal", 1]);
    required("messages", escalation, "description", ["What is missing"], noText);
    optional("messages", escalation, "options", [[], ["Option A"]], noTexts);
  });

  it("has a suggestion, a text as context, and an escalation target (D3-062..D3-064)", () => {
    optional("messages", escalation, "suggested_resolution", ["Use A"], noText);
    optional("messages", escalation, "context", ["More"], noText);
    optional("messages", escalation, "escalate_to", ["ORCHESTRATOR", "human"], ["HUMAN", "boss", 1]);
  });

  it("goes to the human for scope changes and critical severity, otherwise to the orchestrator", () => {
    expect(escalationTarget({ blocker_type: "technical_blocker", severity: "high" })).toBe("ORCHESTRATOR");
    expect(escalationTarget({ blocker_type: "clarification_needed" })).toBe("ORCHESTRATOR");
    expect(escalationTarget({ blocker_type: "scope_change", severity: "low" })).toBe("human");
    expect(escalationTarget({ blocker_type: "technical_blocker", severity: "critical" })).toBe("human");
    expect(escalationTarget({ blocker_type: "technical_blocker", escalate_to: "human" })).toBe("human");
  });
});

describe("a resolution", () => {
  it("gives the blocked agent a decision and its rationale (D3-067..D3-072)", () => {
    named(resolution, "BLOCKER_RESOLUTION");
    for (const name of ["task_id", "from_agent", "to_agent"]) required("messages", resolution, name, ["human"], [""]);
    required("messages", resolution, "from_agent", ["ORCHESTRATOR", "human"], ["DEVELOPER", "HUMAN"]);
    required("messages", resolution, "timestamp", moments, noMoment);
    required("messages", resolution, "decision", ["Option A"], noText);
    optional("messages", resolution, "rationale", ["It is simpler"], noText);
    optional("messages", resolution, "modified_requirements", [[], ["Less"]], noTexts);
    required("messages", resolution, "resume_task", [true, false], ["yes", 1]);
  });
});

describe("lenient reading", () => {
  it("accepts every example of the document", () => {
    expect(Object.keys(examples)).toHaveLength(14);
    for (const [name, example] of Object.entries(examples)) {
      const { message, problems } = leniently("messages", example);
      expect(message, name).toMatchObject(example);
      expect(warningsOf(problems), name).toEqual(problems);
    }
  });

  it("accepts the three typical blockers without a task, a sender or a timestamp", () => {
    const read = (value: unknown) => leniently("messages", value);
    const gaps = ["timestamp", "task_id", "from_agent"];
    for (const [example, blocker] of [
      [examples.vagueRequirement, { blocker_type: "clarification_needed", suggested_resolution: /metrics/ }],
      [examples.missingDependency, { blocker_type: "dependency_missing", suggested_resolution: /Assign ARCHITECT/ }],
      [examples.scopeChange, { blocker_type: "scope_change", escalate_to: /^human$/ }],
    ] as const) {
      const { message, problems } = read(example);
      for (const [name, wanted] of Object.entries(blocker)) expect(message?.[name]).toMatch(wanted);
      expect(message?.timestamp).toBe(receivedAt);
      expect(problems.map(({ path, severity }) => [path, severity])).toEqual(gaps.map((path) => [path, "warning"]));
    }
  });

  it("warns about an approval that is not from the security review", () => {
    for (const [from, isFine] of [
      ["DEVELOPER", false],
      ["SECURITY_AUDITOR", true],
      ["security-review", true],
    ] as const) {
      const { message, problems } = leniently("messages", { ...security, from_agent: from });
      expect(message).not.toBeNull();
      expect(problems.map(({ path }) => path)).toEqual(isFine ? [] : ["from_agent"]);
    }
  });

  it("warns about a sender that may not assign, reject or resolve (D3-006, D3-008, D3-046, D3-067)", () => {
    for (const message of [assignment, rejection, resolution]) {
      const { message: read, problems } = leniently("messages", { ...message, from_agent: "DEVELOPER" });
      expect(read).toMatchObject({ from_agent: "DEVELOPER" });
      expect(problems).toMatchObject([{ path: "from_agent", code: "off_list", severity: "warning" }]);
    }
  });

  it("accepts other spellings, and keeps unknown values and members with a warning", () => {
    const { message, problems } = leniently("messages", {
      messageType: "task-acknowledgement",
      taskId: "t",
      fromAgent: "DEVELOPER",
      status: "Acknowledged",
      mood: "good",
      timestamp: moments[0],
    });
    expect(message).toEqual({
      message_type: "TASK_ACKNOWLEDGMENT",
      task_id: "t",
      from_agent: "DEVELOPER",
      status: "acknowledged",
      mood: "good",
      timestamp: moments[0],
    });
    expect(problems.every(({ code }) => code === "alias")).toBe(true);
    const odd = {
      ...assignment,
      priority: "critical",
      deadline: "IMMEDIATE - 1 hour",
      context: "A text",
      code_to_review: { files: ["a.ts"] },
    };
    const reading = leniently("messages", odd);
    expect(reading.message).toEqual(odd);
    expect(reading.problems.map(({ path, severity }) => [path, severity])).toEqual([
      ["priority", "warning"],
      ["deadline", "warning"],
      ["context", "warning"],
    ]);
  });
});
