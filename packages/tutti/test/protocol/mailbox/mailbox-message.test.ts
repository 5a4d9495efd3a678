import { describe, expect, it } from "vitest";
import {
  isMailboxAssignment,
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

describe("an assignment that we write", () => {
  it("says what it is and for which task (D1-005, D1-006)", () => {
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

  it("has a time, and endpoints only if there are some (D1-012, D1-013)", () => {
    required("mailbox", assignment, "timestamp", moments, noMoment);
    optional("mailbox", assignment, "apiEndpoints", [[], ["GET /api/resource"]], noTexts);
  });
});

describe("a report that we write", () => {
  it("says what it is, for which task and platform (D1-015..D1-017)", () => {
    expect(strictly("mailbox", report)).toEqual({ message: report, problems: [] });
    expect(strictly("mailbox", { ...report, type: "report" }).message).toBeNull();
    required("mailbox", report, "taskId", ["task-001"], ["", ...noText]);
    required("mailbox", report, "platform", PLATFORMS, ["Web", "windows", "", 1]);
  });

  it("awaits review, with a summary and its files (D1-018..D1-021)", () => {
    required("mailbox", report, "status", ["awaiting_review"], ["completed", "", 1]);
    required("mailbox", report, "summary", ["Done."], noText);
    required("mailbox", report, "filesCreated", [[], ["a.ts"]], noTexts);
    required("mailbox", report, "filesModified", [[], ["a.ts"]], noTexts);
  });

  it("has the result of its build and a time (D1-022, D1-023)", () => {
    required(
      "mailbox",
      report,
      "buildResult",
      [{ status: "success", command: "make", errors: 0 }],
      ["success", {}, []],
    );
    required("mailbox", report, "timestamp", moments, noMoment);
  });

  it("gives the build's status, command, number of errors and perhaps its output (D1-024..D1-027)", () => {
    const statuses = ["success", "not_applicable", "not_verified", "failed"];
    required("mailbox", report, "buildResult.status", statuses, ["ok", "", 1]);
    required("mailbox", report, "buildResult.command", ["npm run build"], noText);
    required("mailbox", report, "buildResult.errors", [0, 3], ["0", true]);
    optional("mailbox", report, "buildResult.output", ["Error in a.ts"], noText);
  });

  it("is questioned where the build's status and its errors contradict each other (D1-028, D1-029)", () => {
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
  it("refuses a message without a time, or with anything wrong, before it reaches a file (D1-055, D1-056)", () => {
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

  it("warns of members that the document does not know", () => {
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

describe("reading leniently", () => {
  it("accepts both examples of the document, and names what only a person fills in", () => {
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

  it("needs no more than the kind and the task, and stamps the arrival (D1-055/X20)", () => {
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

  it("understands other spellings and keeps what it does not know", () => {
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

  it("keeps a message of a kind that the document does not know, with a warning", () => {
    const plan = { type: "planning_document", taskId: "task-1", sections: [1], timestamp: "2024-01-01T00:00:00.000Z" };
    const options = { profile: "lenient", receivedAt } as const;
    const { message, problems } = readMailboxMessage(plan, options);
    expect(message).toEqual(plan);
    expect(message && (isMailboxReport(message) || isMailboxAssignment(message))).toBe(false);
    const known = readMailboxMessage(assignment, options).message;
    expect(known && isMailboxAssignment(known) && known.filesToCreate).toEqual(assignment.filesToCreate);
    expect(problems).toMatchObject([{ path: "type", code: "unknown_kind", severity: "warning" }]);
  });

  it("refuses what is no message, whatever it is", () => {
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

  it("changes nothing in the value it was given", () => {
    const value = Object.freeze({ type: "task_assignment", taskId: "task-1", apiEndpoints: null });
    expect(leniently("mailbox", value).message).not.toBeNull();
    expect(value).toEqual({ type: "task_assignment", taskId: "task-1", apiEndpoints: null });
  });
});
