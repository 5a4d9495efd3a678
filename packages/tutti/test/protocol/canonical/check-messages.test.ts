import { describe, expect, it } from "vitest";
import { checkMessages } from "../../../src/protocol/canonical/check-messages.ts";
import type { Protocol } from "../../../src/protocol/canonical/protocol-name.ts";
import { apiSpecClarification, apiSpecSuccess, apiSpecTask } from "../delegation/examples.ts";
import { reportFile } from "../mailbox/examples.ts";
import { chatAcknowledgment, chatAssignment, chatCompletion } from "../messages/examples.ts";
import { receivedAt } from "./member-checks.ts";

/** The warnings about several messages, as `path: sentence`. */
function mismatches(protocol: Protocol, ...values: object[]): string[] {
  const listed = values.map((value, i) => ({ path: `[${i}]`, protocol, value }));
  return checkMessages(listed, { profile: "lenient", receivedAt })
    .filter(({ code }) => code === "mismatch")
    .map(({ path, severity, sentence }) => `${severity} ${path}: ${sentence}`);
}

describe("a list of agent messages", () => {
  const { task_id } = chatAssignment;
  const unsure = { ...chatCompletion, validation: { ...chatCompletion.validation, all_passed: false } };

  it("has a warning at every completion that may not be approved", () => {
    expect(mismatches("messages", chatAssignment, chatAcknowledgment, chatCompletion)).toEqual([]);
    expect(mismatches("messages", chatAssignment, unsure, chatCompletion)).toEqual([
      `warning [1]: Task "${task_id}" cannot be approved: "validation.all_passed" is not true.`,
    ]);
    expect(mismatches("messages", unsure)).toEqual([]);
  });

  it("has a warning at a task that starts before the task that blocks it is approved", () => {
    const next = { ...chatAssignment, task_id: "next", blocked_by: task_id };
    const started = { ...chatAcknowledgment, task_id: "next" };
    expect(mismatches("messages", chatAssignment, chatCompletion, next, started)).toEqual([]);
    expect(mismatches("messages", chatAssignment, next, started, chatCompletion)).toEqual([
      'warning [2]: Task "next" is blocked by a task that is not approved yet.',
    ]);
    expect(mismatches("messages", next, started)).toEqual([]);
  });
});

it("A list of delegation messages has a warning at a report that does not close its task", () => {
  expect(mismatches("delegation", apiSpecTask, apiSpecSuccess)).toEqual([]);
  expect(mismatches("delegation", apiSpecSuccess)).toEqual([]);
  const [output] = apiSpecTask.expectedOutputs;
  expect(mismatches("delegation", apiSpecTask, { ...apiSpecSuccess, outputArtifacts: [] })).toEqual([
    `warning [1]: The report does not close task "${apiSpecTask.taskId}": An expected output is missing: ${output!.path}`,
  ]);
  expect(mismatches("delegation", apiSpecTask, { ...apiSpecSuccess, result: "in_progress" })).toEqual([]);
});

it("A checked message without a timestamp has a warning, except in the mailbox (D2-034, D2-035)", () => {
  const found = (protocol: Protocol, value: object) =>
    checkMessages([{ path: "", protocol, value }], { profile: "strict", receivedAt }).map(
      ({ severity, code, path }) => `${severity} ${code} ${path}`,
    );
  for (const example of [apiSpecTask, apiSpecSuccess, apiSpecClarification]) {
    expect(found("delegation", example)).toEqual(["warning stamped timestamp"]);
  }
  expect(found("messages", { ...chatAcknowledgment, timestamp: undefined })).toEqual(["warning stamped timestamp"]);
  expect(found("messages", { ...chatAcknowledgment, timestamp: "today" })).toEqual(["error bad_format timestamp"]);
  const { timestamp: _left, ...undated } = reportFile.messages[0]!;
  expect(found("mailbox", undated)).toContain("error missing timestamp");
});
