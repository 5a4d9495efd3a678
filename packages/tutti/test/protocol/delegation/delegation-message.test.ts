import { describe, expect, it } from "vitest";
import {
  delegationKind,
  mismatchesTask,
  writeDelegationMessage,
} from "../../../src/protocol/delegation/delegation-message.ts";
import {
  having,
  leniently,
  member,
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
import { apiSpecClarification, apiSpecSuccess, apiSpecTask, completionShape, newTaskShape } from "./examples.ts";

const timestamp = "2024-01-01T00:00:00.000Z";
const task = { ...apiSpecTask, timestamp };
const success = { ...apiSpecSuccess, timestamp };
const clarification = { ...apiSpecClarification, timestamp };

describe("a delegation that Tutti writes", () => {
  it("names its task, its parent task and the mode (D2-002..D2-004)", () => {
    expect(strictly("delegation", task)).toEqual({ message: task, problems: [] });
    required("delegation", task, "taskId", ["A-1"], ["", ...noText]);
    optional("delegation", task, "parentTaskId", ["FEATURE-AUTH-001"], noText);
    required("delegation", task, "delegatedToMode", ["spec-pseudocode", "my-mode"], ["", ...noText]);
  });

  it("has an objective and an optional context (D2-005, D2-006)", () => {
    required("delegation", task, "objective", ["Do it"], noText);
    optional("delegation", task, "context", ["We are building a shop"], noText);
  });

  it("lists inputs with type, path, version and description (D2-007..D2-011)", () => {
    optional("delegation", task, "inputs", [[], task.inputs], ["a", {}, ["a.md"]]);
    required("delegation", task, "inputs.0.type", ["document", "code", "drawing"], noText);
    required("delegation", task, "inputs.0.path", [".project-memory/hld/a.md"], noText);
    optional("delegation", task, "inputs.0.version", ["1.0.0", "76a3bf4"], noText);
    optional("delegation", task, "inputs.0.description", ["What it is"], noText);
  });

  it("lists expected outputs with type, path and description, without a version (D2-012..D2-015)", () => {
    optional("delegation", task, "expectedOutputs", [[], task.expectedOutputs], ["a", {}, ["a.md"]]);
    required("delegation", task, "expectedOutputs.0.type", ["document", "code"], noText);
    required("delegation", task, "expectedOutputs.0.path", ["a.md"], noText);
    optional("delegation", task, "expectedOutputs.0.description", ["What it should hold"], noText);
    const { problems } = strictly("delegation", having(task, "expectedOutputs.0.version", "1.0.0"));
    expect(problems).toMatchObject([{ path: "expectedOutputs[0].version", code: "unknown_member" }]);
  });

  it("has rules, criteria, a priority and a free-text deadline (D2-016..D2-019)", () => {
    optional("delegation", task, "constraintsAndRules", [[], ["Follow REST"]], noTexts);
    optional("delegation", task, "acceptanceCriteria", [[], ["All endpoints"]], noTexts);
    optional("delegation", task, "priority", ["high", "medium", "low"], ["critical", "High", 1]);
    optional("delegation", task, "deadlineHint", ["2 days", "2025-05-01T12:00:00Z"], noText);
  });

  it("has a timestamp, although the document defines none", () => {
    required("delegation", task, "timestamp", moments, noMoment);
    required("delegation", success, "timestamp", moments, noMoment);
  });
});

describe("a report that Tutti writes", () => {
  it("has the task, one of four results and a summary (D2-022, D2-027)", () => {
    expect(strictly("delegation", success)).toEqual({ message: success, problems: [] });
    required("delegation", success, "taskId", ["API-SPEC-001"], ["", ...noText]);
    const results = ["success", "failure", "clarification_needed", "conflict_detected"];
    required("delegation", success, "result", results, ["completed", "in_progress", "Success", ""]);
    required("delegation", success, "summary", ["Done."], noText);
  });

  it("lists artefacts with type, path, version and description (D2-028, D2-029)", () => {
    optional("delegation", success, "outputArtifacts", [[], success.outputArtifacts], ["a", {}, ["a.md"]]);
    required("delegation", success, "outputArtifacts.0.type", ["document"], noText);
    required("delegation", success, "outputArtifacts.0.path", ["a.md"], noText);
    optional("delegation", success, "outputArtifacts.0.version", ["0.1.0", "76a3bf4"], noText);
    optional("delegation", success, "outputArtifacts.0.description", ["What it is"], noText);
  });

  it("lists issues, possibly none, with type, description and a suggestion (D2-030..D2-033)", () => {
    optional("delegation", clarification, "issues_encountered", [[]], ["a", {}, ["a"]]);
    const types = ["clarification_needed", "technical_issue", "conflict", "other"];
    required("delegation", clarification, "issues_encountered.0.type", types, ["conflict_detected", "", 1]);
    required("delegation", clarification, "issues_encountered.0.description", ["What"], noText);
    optional("delegation", clarification, "issues_encountered.0.suggestedResolution", ["Ask"], noText);
  });

  it("has a warning if its issues do not match its result", () => {
    const odd = (result: string, type: string) =>
      strictly("delegation", { ...clarification, result, issues_encountered: [{ type, description: "" }] }).problems;
    expect(odd("clarification_needed", "clarification_needed")).toEqual([]);
    expect(odd("conflict_detected", "conflict")).toEqual([]);
    expect(odd("success", "other")).toEqual([]);
    expect(odd("conflict_detected", "other")).toMatchObject([
      { path: "result", code: "mismatch", severity: "warning" },
    ]);
    expect(odd("success", "conflict")).toMatchObject([{ path: "result", code: "mismatch", severity: "warning" }]);
  });

  it("is rejected if it is neither of the two messages", () => {
    expect(writeDelegationMessage({ taskId: "A-1" })).toMatchObject({
      message: null,
      problems: [{ code: "unknown_kind" }],
    });
    expect(writeDelegationMessage([]).message).toBeNull();
  });
});

describe("lenient reading", () => {
  it("accepts the example of a delegation (D2-034)", () => {
    const { message, problems } = leniently("delegation", apiSpecTask);
    expect(message).toEqual({ ...apiSpecTask, timestamp: receivedAt });
    expect(problems.map(({ code }) => code)).toEqual(["stamped"]);
    expect(message).toMatchObject({
      taskId: "API-SPEC-001",
      parentTaskId: "FEATURE-AUTH-001",
      delegatedToMode: "spec-pseudocode",
      priority: "high",
      deadlineHint: "2 days",
    });
    for (const [name, count] of [
      ["inputs", 1],
      ["expectedOutputs", 1],
      ["constraintsAndRules", 3],
    ] as const) {
      expect(message?.[name]).toHaveLength(count);
    }
    expect(message?.acceptanceCriteria).toHaveLength(3);
  });

  it("accepts partial artefacts with a question, and keeps the name of the agent that should answer it (D2-036, D2-037)", () => {
    const { message, problems } = leniently("delegation", apiSpecClarification);
    expect(message).toMatchObject({
      result: "clarification_needed",
      outputArtifacts: [{ path: ".project-memory/lld/api_specifications/auth_api_spec_draft.md", version: "0.0.1" }],
      issues_encountered: [{ suggestedResolution: expect.stringContaining("Business Owner") }],
    });
    expect(problems.map(({ code }) => code)).toEqual(["stamped"]);
  });

  it("accepts both example forms and reports the members that the user has to fill in", () => {
    for (const [shape, paths] of [
      [newTaskShape, ["priority"]],
      [completionShape, ["result", "issues_encountered[0].type"]],
    ] as const) {
      const { message, problems } = leniently("delegation", shape);
      expect(message).toEqual({ ...shape, timestamp: receivedAt });
      expect(problems.slice(1).map(({ path, code }) => [path, code])).toEqual(paths.map((path) => [path, "off_list"]));
    }
  });

  it('reads "completed" as success, and keeps results that belong to other kinds of message', () => {
    const { message, problems } = leniently("delegation", { ...success, result: "completed", metrics: { files: 1 } });
    expect(message).toEqual({ ...success, metrics: { files: 1 } });
    expect(problems).toMatchObject([{ path: "result", code: "alias", severity: "warning" }]);
    for (const result of ["in_progress", "clarification_provided"]) {
      const reading = leniently("delegation", { ...success, result });
      expect(reading.message).toMatchObject({ result });
      expect(reading.problems).toMatchObject([{ path: "result", code: "off_list", severity: "warning" }]);
    }
  });

  it("rejects a message without members that cannot be inferred", () => {
    for (const name of ["taskId", "delegatedToMode", "objective"]) {
      expect(leniently("delegation", having(task, name, undefined)).message, name).toBeNull();
    }
    for (const name of ["taskId", "result", "summary"]) {
      expect(leniently("delegation", having(success, name, undefined)).message, name).toBeNull();
    }
    const bare = { taskId: "A-1", delegatedToMode: "code", objective: "Do it", inputs: [{ path: "a.md" }] };
    const { message, problems } = leniently("delegation", bare);
    expect(message).toEqual({ ...bare, timestamp: receivedAt });
    expect(problems.map(({ path }) => path)).toEqual(["timestamp", "inputs[0].type"]);
    expect(warningsOf(problems)).toEqual(problems);
  });

  it("accepts other spellings of names", () => {
    const { message } = leniently("delegation", {
      task_id: "A-1",
      result: "Success",
      summary: "",
      issuesEncountered: [],
    });
    expect(message).toMatchObject({ taskId: "A-1", result: "success", issues_encountered: [] });
  });
});

it("`mismatchesTask` accepts a report only for its own task", () => {
  expect(mismatchesTask(apiSpecSuccess, apiSpecTask)).toEqual([]);
  const sentence = '"taskId" is "API-SPEC-002", but the delegated task is "API-SPEC-001".';
  const other = { ...apiSpecSuccess, taskId: "API-SPEC-002" };
  expect(mismatchesTask(other, apiSpecTask)).toMatchObject([{ path: "taskId", severity: "error", sentence }]);
});

it("`delegationKind` infers the kind of a message from its members", () => {
  expect(delegationKind(apiSpecTask)).toBe("new_task");
  expect(delegationKind(apiSpecSuccess)).toBe("attempt_completion");
  expect(delegationKind({ type: "task_assignment", taskId: "task-1" })).toBeUndefined();
  expect(delegationKind("new_task")).toBeUndefined();
});

it("A deadline hint may be any text", () => {
  member("delegation", task, "deadlineHint", ["soon"], []);
});
