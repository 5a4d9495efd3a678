import { describe, expect, it } from "vitest";
import { agentName, agentNamed } from "../../../src/protocol/canonical/agent-role.ts";
import { CanonicalMessage } from "../../../src/protocol/canonical/canonical-message.ts";
import { detectProtocol } from "../../../src/protocol/canonical/detect-protocol.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import type { Protocol } from "../../../src/protocol/canonical/protocol-name.ts";
import { fromCanonical, toCanonical, translate } from "../../../src/protocol/canonical/translate.ts";
import * as delegation from "../delegation/examples.ts";
import { assignmentFile, reportFile } from "../mailbox/examples.ts";
import * as messages from "../messages/examples.ts";
import { leniently, receivedAt } from "./member-checks.ts";

function canonicalOf(protocol: Protocol, value: unknown): CanonicalMessage {
  const { message } = leniently(protocol, value);
  if (!message) throw new Error("The example cannot be read");
  return toCanonical(protocol, message);
}

const EXAMPLES: [Protocol, string, unknown][] = [
  ["mailbox", "task_assignment", assignmentFile.messages[0]],
  ["mailbox", "completion_report", reportFile.messages[0]],
  ["delegation", "new_task", delegation.apiSpecTask],
  ["delegation", "attempt_completion", delegation.apiSpecSuccess],
  ["delegation", "attempt_completion", delegation.apiSpecClarification],
  ...Object.values(messages).map((each): [Protocol, string, unknown] => ["messages", each.message_type, each]),
  [
    "response",
    "completion",
    { phase: "completion", data: { task_id: "task_002", status: "failed", error: "No file" } },
  ],
];

describe("`detectProtocol` recognises", () => {
  it.each(EXAMPLES)("%s, %s", (protocol, kind, value) => {
    expect(detectProtocol(value)).toEqual({ protocol, kind, raw: value });
  });

  it("no protocol in any other value", () => {
    for (const value of [null, "text", [], {}, { phase: "analysis" }, { taskId: "t" }, { result: "x" }]) {
      expect(detectProtocol(value)).toBeNull();
    }
  });
});

describe("the canonical model", () => {
  it.each(EXAMPLES)("represents %s, %s, and keeps the original message", (protocol, _kind, value) => {
    const canonical = canonicalOf(protocol, value);
    expect(CanonicalMessage.parse(canonical)).toMatchObject({
      protocol,
      raw: value,
    });
  });

  it("has priorities from 1, the most urgent, to 10, and keeps the original value", () => {
    const level = (priority: unknown) => {
      const canonical = canonicalOf("messages", { ...messages.chatAssignment, priority });
      return canonical.kind === "assignment" ? canonical.priority : undefined;
    };
    expect(level("critical")).toEqual({ level: 1, original: "critical" });
    expect(level("high")).toEqual({ level: 2, original: "high" });
    expect(level("medium")).toEqual({ level: 5, original: "medium" });
    expect(level("normal")).toEqual({ level: 5, original: "normal" });
    expect(level("low")).toEqual({ level: 8, original: "low" });
    expect(level(3)).toEqual({ level: 3, original: 3 });
    expect(level(40)).toEqual({ level: 10, original: 40 });
    expect(level(undefined)).toBeUndefined();
  });

  it("has one word for each outcome (D2-023..D2-026/X16)", () => {
    const outcome = (protocol: Protocol, value: unknown) => {
      const canonical = canonicalOf(protocol, value);
      return [canonical.kind, "outcome" in canonical ? canonical.outcome : undefined];
    };
    const completion = (status: string) => ({ phase: "completion", data: { task_id: "t", status } });
    expect(outcome("response", completion("success"))).toEqual(["report", "success"]);
    expect(outcome("response", completion("partial"))).toEqual(["report", "partial"]);
    expect(outcome("response", completion("failed"))).toEqual(["report", "failure"]);
    expect(outcome("response", completion("timeout"))).toEqual(["report", "timeout"]);
    expect(outcome("mailbox", reportFile.messages[0])).toEqual(["report", "awaiting_review"]);
    const report = (result: string) => ({ ...delegation.apiSpecSuccess, result });
    expect(outcome("delegation", report("success"))).toEqual(["report", "success"]);
    expect(outcome("delegation", report("completed"))).toEqual(["report", "success"]);
    expect(outcome("delegation", report("failure"))).toEqual(["report", "failure"]);
    expect(outcome("delegation", report("whatever"))).toEqual(["report", "failure"]);
    expect(outcome("delegation", report("clarification_needed"))).toEqual(["blocker", "needs_clarification"]);
    expect(outcome("delegation", report("conflict_detected"))).toEqual(["blocker", "conflict"]);
    expect(outcome("delegation", report("in_progress"))).toEqual(["progress", undefined]);
    expect(outcome("delegation", report("clarification_provided"))).toEqual(["answer", undefined]);
    expect(outcome("messages", messages.chatCompletion)).toEqual(["report", "success"]);
    const failed = { ...messages.chatCompletion, validation: { all_passed: false } };
    expect(outcome("messages", failed)).toEqual(["report", "partial"]);
    const silent = { message_type: "TASK_COMPLETION", task_id: "t" };
    expect(outcome("messages", silent)).toEqual(["report", "awaiting_review"]);
  });

  it("has one kind for everything that blocks a task", () => {
    const conflict = { ...delegation.apiSpecClarification, result: "conflict_detected" };
    const held: [Protocol, unknown][] = [
      ["messages", messages.vagueRequirement],
      ["messages", messages.missingDependency],
      ["messages", messages.scopeChange],
      ["messages", { ...messages.vagueRequirement, severity: "critical" }],
      ["delegation", delegation.apiSpecClarification],
      ["delegation", conflict],
    ];
    for (const [protocol, value] of held) {
      const canonical = canonicalOf(protocol, value);
      expect(canonical.kind).toBe("blocker");
      const { message } = fromCanonical("messages", { ...canonical, taskId: "t" }, { at: receivedAt });
      expect(message).toMatchObject({ message_type: "BLOCKER_ESCALATION", task_id: "t" });
    }
  });

  it("recognises a role by all its names", () => {
    for (const name of ["SECURITY_AUDITOR", "SECURITY-and-PRODUCTION-READINESS", "security-review"]) {
      expect(agentNamed(name)).toEqual({ role: "security-auditor", name });
      expect(agentName("messages", agentNamed(name))).toBe("SECURITY_AUDITOR");
      expect(agentName("delegation", agentNamed(name))).toBe("security-review");
    }
    expect(agentNamed("Team Lead").role).toBe("orchestrator");
    expect(agentName("mailbox", agentNamed("ORCHESTRATOR"))).toBe("Team Lead");
    expect(agentName("delegation", agentNamed("Business Owner"))).toBe("Business Owner");
  });
});

describe("translating", () => {
  it("carries an assignment with its list of requirements through a mailbox and back", () => {
    const { messages: there, lost } = translate(messages.chatAssignment, "messages", "mailbox", receivedAt);
    expect(there).toEqual([
      {
        type: "task_assignment",
        taskId: "dev_chat_msg_001",
        platform: "custom",
        filesToCreate: [],
        architecture: "",
        title: "Implement ChatMessage component",
        instructions:
          "1. Implement ChatMessage component from DESIGNER spec\n2. Support markdown rendering\n" +
          "3. Handle user and assistant roles\n4. Include timestamp display",
        timestamp: receivedAt,
      },
    ]);
    expect(lost).toEqual([{ path: "acceptanceCriteria", reason: "The mailbox protocol has no member for it." }]);
    const back = translate(there[0], "mailbox", "messages", receivedAt).messages[0];
    expect(back).toMatchObject({ to_agent: "DEVELOPER", requirements: messages.chatAssignment.requirements });
  });

  it("drops a deadline in free text if the protocol only allows a timestamp (D2-019/V05)", () => {
    const { messages: there, lost } = translate(delegation.apiSpecTask, "delegation", "messages", receivedAt);
    expect(there[0]).not.toHaveProperty("deadline");
    expect(lost.map(({ path }) => path)).toContain("deadline");
    const dated = { ...delegation.apiSpecTask, deadlineHint: "2025-05-01T12:00:00Z" };
    expect(translate(dated, "delegation", "messages", receivedAt).messages[0]).toMatchObject({
      deadline: "2025-05-01T12:00:00Z",
    });
  });

  it("keeps a question, including the name of the agent that should answer it (D2-037)", () => {
    const { messages: there, lost } = translate(delegation.apiSpecClarification, "delegation", "messages", receivedAt);
    expect(there).toMatchObject([{ message_type: "BLOCKER_ESCALATION", blocker_type: "clarification_needed" }]);
    expect(there[0]?.suggested_resolution).toContain("Business Owner");
    expect(lost).toEqual([{ path: "files", reason: "The agent message protocol has no member for it." }]);
  });

  it("names the orchestrator as sender where only it may send, and lists the loss (D3-008, D3-046, D3-067)", () => {
    for (const message of [messages.assignment, messages.rejection, messages.resolution]) {
      const fromDeveloper = { ...message, from_agent: "DEVELOPER" };
      const { messages: there, lost } = translate(fromDeveloper, "messages", "messages", receivedAt);
      expect(there).toMatchObject([{ from_agent: "ORCHESTRATOR" }]);
      expect(lost.map(({ path }) => path)).toContain("from.role");
    }
    const byUser = { ...messages.resolution, from_agent: "human" };
    expect(translate(byUser, "messages", "messages", receivedAt).messages).toEqual([byUser]);
  });

  it("treats a build as passed if it succeeded or does not apply, and not otherwise (D1-028..D1-031)", () => {
    const passes = (status: string) => {
      const buildResult = { status, command: "make", errors: status === "failed" ? 1 : 0 };
      const report = { ...reportFile.messages[0], buildResult };
      return translate(report, "mailbox", "messages", receivedAt).messages[0]?.validation;
    };
    expect(passes("success")).toEqual({ all_passed: true });
    expect(passes("failed")).toEqual({ all_passed: false });
    expect(passes("not_applicable")).toEqual({ all_passed: true });
    expect(passes("not_verified")).toEqual({ all_passed: false });
  });

  it("splits a plan into one message per task", () => {
    const task = (id: string) => ({ id, title: id, description: "Do it", priority: 2 });
    const data = { tasks: [task("task_001"), task("task_002")], parallelizable_groups: [["task_001", "task_002"]] };
    const { messages: there, lost } = translate({ phase: "task_list", data }, "response", "delegation", receivedAt);
    expect(there).toMatchObject([
      { taskId: "task_001", objective: "task_001", context: "Do it", priority: "high" },
      { taskId: "task_002" },
    ]);
    expect(lost).toEqual([{ path: "raw.data.parallelizable_groups", reason: "Each task became a separate message." }]);
    const same = translate({ phase: "task_list", data }, "response", "response", receivedAt);
    expect(same.messages).toEqual([{ phase: "task_list", data: { ...data, timestamp: receivedAt } }]);
  });

  it("lists every message, value and member that the protocol cannot express", () => {
    expect(translate(messages.chatAcknowledgment, "messages", "delegation", receivedAt)).toMatchObject({
      messages: [],
      lost: [{ path: "", reason: "The delegation protocol has no message for it." }],
    });
    const urgent = { ...messages.chatAssignment, priority: "critical", mood: "good" };
    expect(translate(urgent, "messages", "messages", receivedAt)).toMatchObject({
      messages: [{ priority: "high", mood: "good" }],
      lost: [
        { path: "priority.level", reason: "The agent message protocol uses 2 instead." },
        { path: "priority.original", reason: "The agent message protocol has no member for it." },
      ],
    });
    expect(translate(urgent, "messages", "response", receivedAt).lost).toContainEqual({
      path: "raw.mood",
      reason: "Only the agent message protocol has this member.",
    });
    const passed = canonicalOf("response", { phase: "verification", data: { status: "passed" } });
    expect(fromCanonical("messages", passed, { at: receivedAt }).message).toBeNull();
    expect(fromCanonical("mailbox", canonicalOf("mailbox", { type: "planning_document" })).message).toBeNull();
  });

  it("reads its input leniently and reports unreadable input", () => {
    for (const from of PROTOCOLS) {
      const { messages: there, problems } = translate({ hello: "world" }, from, "messages", receivedAt);
      expect(there).toEqual([]);
      expect(problems.some(({ severity }) => severity === "error")).toBe(true);
    }
    expect(() => toCanonical("mailbox", {})).toThrow('not a message of the "mailbox" protocol');
  });

  it("never changes a prototype", () => {
    const hostile: unknown = JSON.parse(
      '{"message_type":"TASK_COMPLETION","task_id":"t","__proto__":{"polluted":1},"output":{"__proto__":{"polluted":1}}}',
    );
    for (const to of PROTOCOLS) translate(hostile, "messages", to, receivedAt);
    const canonical = toCanonical("messages", hostile as Record<string, unknown>);
    fromCanonical("messages", canonical, { at: receivedAt });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});
