import { describe, expect, it } from "vitest";
import {
  isMailboxReport,
  readMailboxMessage,
  writeMailboxMessage,
} from "../../../src/protocol/mailbox/mailbox-message.ts";
import {
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
import { assignmentFile, buildResult, reportFile } from "./examples.ts";

const assignment = { ...assignmentFile.messages[0], platform: "web" };
const report = {
  ...reportFile.messages[0],
  platform: "ios",
  buildResult: { ...buildResult, status: "success" },
};
const PLATFORMS = ["web", "android", "ios", "custom"];

describe("an assignment that Tutti writes", () => {
  it("has a type and a task (D1-005, D1-006)", () => {
    expect(strictly("mailbox", assignment)).toEqual({ message: assignment, problems: [] });
    expect(strictly("mailbox", { ...assignment, type: "assignment" }).message).toBeNull();
    required("mailbox", assignment, "taskId", ["task-001", "x"], ["", ...noText]);
  });

  it("names one of four platforms (D1-007)", () => {
    required("mailbox", assignment, "platform", PLATFORMS, ["Web", "windows", "", 1]);
  });

  it("has a title, instructions, files to create and an architecture (D1-008..D1-011)", () => {
    for (const name of ["title", "instructions", "architecture"]) {
      required("mailbox", assignment, name, ["Some text"], noText);
    }
    required("mailbox", assignment, "filesToCreate", [[], ["a.ts", "b.ts"]], noTexts);
  });

  it("has a timestamp, and optional endpoints (D1-012, D1-013)", () => {
    required("mailbox", assignment, "timestamp", moments, noMoment);
    optional("mailbox", assignment, "apiEndpoints", [[], ["GET /api/resource"]], noTexts);
  });
});

describe("a report that Tutti writes", () => {
  it("has a type, a task and a platform (D1-015..D1-017)", () => {
    expect(strictly("mailbox", report)).toEqual({ message: report, problems: [] });
    expect(strictly("mailbox", { ...report, type: "report" }).message).toBeNull();
    required("mailbox", report, "taskId", ["task-001"], ["", ...noText]);
    required("mailbox", report, "platform", PLATFORMS, ["Web", "windows", "", 1]);
  });

  it("has the status awaiting_review, a summary and its files (D1-018..D1-021)", () => {
    required("mailbox", report, "status", ["awaiting_review"], ["completed", "", 1]);
    required("mailbox", report, "summary", ["Done."], noText);
    required("mailbox", report, "filesCreated", [[], ["a.ts"]], noTexts);
    required("mailbox", report, "filesModified", [[], ["a.ts"]], noTexts);
  });

  it("has a build result and a timestamp (D1-022, D1-023)", () => {
    required(
      "mailbox",
      report,
      "buildResult",
      [{ status: "success", command: "make", errors: 0 }],
      ["success", {}, []],
    );
    required("mailbox", report, "timestamp", moments, noMoment);
  });

  it("has a build result with status, command, number of errors and optional output (D1-024..D1-027)", () => {
    const statuses = ["success", "not_applicable", "not_verified", "failed"];
    required("mailbox", report, "buildResult.status", statuses, ["ok", "", 1]);
    required("mailbox", report, "buildResult.command", ["npm run build"], noText);
    required("mailbox", report, "buildResult.errors", [0, 3], ["0", true]);
    optional("mailbox", report, "buildResult.output", ["Error in a.ts"], noText);
  });

  it("has a warning if the status and the errors of the build contradict each other (D1-028, D1-029)", () => {
    const oddities = (status: string, errors: number) =>
      strictly("mailbox", { ...report, buildResult: { status, command: "make", errors } }).problems.map(
        ({ code }) => code,
      );
    expect(oddities("success", 0)).toEqual([]);
    expect(oddities("success", 2)).toEqual(["mismatch"]);
    expect(oddities("failed", 2)).toEqual([]);
    expect(oddities("failed", 0)).toEqual(["mismatch"]);
    expect(oddities("not_applicable", 0)).toEqual([]);
    expect(oddities("not_verified", 0)).toEqual([]);
  });
});

describe("writing", () => {
  it("rejects a message without a timestamp, or with any error, before it reaches a file (D1-055, D1-056)", () => {
    const { timestamp: _left, ...undated } = report;
    expect(writeMailboxMessage(undated)).toEqual({
      message: null,
      problems: [
        {
          path: "timestamp",
          severity: "error",
          code: "missing",
          sentence: '"timestamp" is missing; it must be a string.',
        },
      ],
    });
    expect(writeMailboxMessage({ ...assignment, filesToCreate: "a.ts" }).message).toBeNull();
    expect(writeMailboxMessage({ ...assignment, type: "planning_document" }).message).toBeNull();
    expect(writeMailboxMessage(assignment).message).toEqual(assignment);
  });

  it("warns about members that the document does not define", () => {
    const { message, problems } = writeMailboxMessage({
      ...report,
      buildResult: { ...report.buildResult, cpu: 1 },
      a: 1,
    });
    expect(message).toMatchObject({ a: 1 });
    expect(problems.map(({ path, code }) => [path, code])).toEqual([
      ["buildResult.cpu", "unknown_member"],
      ["a", "unknown_member"],
    ]);
  });
});

describe("lenient reading", () => {
  it("accepts both examples of the document and reports the members that the user has to fill in", () => {
    for (const [example, paths] of [
      [assignmentFile.messages[0], ["platform"]],
      [reportFile.messages[0], ["platform", "buildResult.status"]],
    ] as const) {
      const { message, problems } = leniently("mailbox", example);
      expect(message).toEqual(example);
      expect(problems.map(({ path, code, severity }) => [path, code, severity])).toEqual(
        paths.map((path) => [path, "off_list", "warning"]),
      );
    }
  });

  it("requires only the type and the task, and adds the time of arrival (D1-055/X20)", () => {
    const { message, problems } = leniently("mailbox", { type: "completion_report", taskId: "task-7" });
    expect(message).toEqual({ type: "completion_report", taskId: "task-7", timestamp: receivedAt });
    const paths = ["platform", "status", "summary", "filesCreated", "filesModified", "buildResult"];
    expect(problems[0]).toMatchObject({ path: "timestamp", code: "stamped", severity: "warning" });
    expect(problems.slice(1).map(({ path, code, severity }) => [path, code, severity])).toEqual(
      paths.map((path) => [path, "missing", "warning"]),
    );
    expect(leniently("mailbox", { type: "completion_report" }).message).toBeNull();
    expect(leniently("mailbox", { taskId: "task-7" }).problems).toMatchObject([{ path: "type", severity: "error" }]);
  });

  it("accepts other spellings and keeps unknown members", () => {
    const { message, problems } = leniently("mailbox", {
      Type: "Task-Assignment",
      task_id: "task-1",
      files_to_create: ["a.ts"],
      platform: "Web",
      timestamp: "now",
      accessibilityRequirements: ["contrast"],
      apiEndpoints: null,
    });
    expect(message).toEqual({
      type: "task_assignment",
      taskId: "task-1",
      filesToCreate: ["a.ts"],
      platform: "web",
      timestamp: "now",
      accessibilityRequirements: ["contrast"],
    });
    const aliases = problems.filter(({ code }) => code === "alias").map(({ sentence }) => sentence);
    expect(aliases).toContain('"task_id" was read as "taskId".');
    expect(aliases).toContain('"platform": "Web" was read as "web".');
    expect(warningsOf(problems)).toEqual(problems);
  });

  it("keeps a message of an unknown type with a warning", () => {
    const plan = { type: "planning_document", taskId: "task-1", sections: [1], timestamp: "2024-01-01T00:00:00.000Z" };
    const options = { profile: "lenient", receivedAt } as const;
    const { message, problems } = readMailboxMessage(plan, options);
    expect(message).toEqual(plan);
    expect(message && isMailboxReport(message)).toBe(false);
    const known = readMailboxMessage(assignment, options).message;
    expect(known).toMatchObject({ type: "task_assignment", filesToCreate: assignment.filesToCreate });
    expect(problems).toMatchObject([{ path: "type", code: "unknown_kind", severity: "warning" }]);
  });

  it("rejects every value that is not a message", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    for (const value of [null, undefined, "text", 1, [], [assignment], {}, deep, { type: 1 }, { type: "" }]) {
      const { message, problems } = leniently("mailbox", value);
      expect(message).toBeNull();
      expect(problems).not.toEqual([]);
    }
    const hostile: unknown = JSON.parse('{"type":"task_assignment","taskId":"t","__proto__":{"taskId":"other"}}');
    const { message } = leniently("mailbox", hostile);
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
    expect(Object.hasOwn(message ?? {}, "__proto__")).toBe(false);
  });

  it("does not modify its input", () => {
    const value = Object.freeze({ type: "task_assignment", taskId: "task-1", apiEndpoints: null });
    expect(leniently("mailbox", value).message).not.toBeNull();
    expect(value).toEqual({ type: "task_assignment", taskId: "task-1", apiEndpoints: null });
  });
});
