import { describe, expect, it } from "vitest";
import { judgeCompletion } from "../../../src/protocol/messages/judge-completion.ts";
import { chatAssignment, chatCompletion, securityAssignment, securityCompletion } from "./examples.ts";

const judge = (completion: Parameters<typeof judgeCompletion>[0]) => judgeCompletion(completion, chatAssignment);
const validation = chatCompletion.validation;

describe("a completion", () => {
  it("is approved only if everything passed", () => {
    expect(judge(chatCompletion)).toEqual({ approved: true, reasons: [] });
    expect(judge({ ...chatCompletion, validation: { ...validation, all_passed: false } })).toEqual({
      approved: false,
      reasons: ['"validation.all_passed" is not true.'],
    });
    const { validation: _left, ...silent } = chatCompletion;
    expect(judge(silent).approved).toBe(false);
  });

  it("is rejected unless it has one result for each criterion", () => {
    const met = (answers: boolean[]) =>
      judge({ ...chatCompletion, validation: { ...validation, acceptance_criteria_met: answers } });
    expect(met([true, true, true, true]).reasons).toEqual(['"acceptance_criteria_met" has 4 results for 5 criteria.']);
    expect(met([true, true, true, true, true, true]).approved).toBe(false);
    expect(met([true, true, false, true, true]).reasons).toEqual(["Criterion not met: ✓ TypeScript types are correct"]);
    expect(judge({ ...chatCompletion, validation: { all_passed: true } }).approved).toBe(false);
    expect(judge({ ...chatCompletion, task_id: "another" }).approved).toBe(false);
  });

  it("of an auditor needs an approval too, and no finding that blocks deployment", () => {
    const audit = (changes: object) =>
      judgeCompletion({ ...securityCompletion, approval_status: "APPROVED", ...changes }, securityAssignment).approved;
    expect(audit({})).toBe(true);
    for (const status of ["CONDITIONAL", "REJECTED", "approved"])
      expect(audit({ approval_status: status })).toBe(false);
    expect(audit({ validation: { all_passed: false } })).toBe(false);
    expect(audit({ output: { blocking_deployment: true } })).toBe(false);
  });
});
