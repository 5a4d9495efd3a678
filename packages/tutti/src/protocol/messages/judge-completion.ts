import { sentence } from "../../sentence.ts";
import type { Approval } from "../response/profile.ts";
import type { TaskAssignment, TaskCompletion } from "./message-reading.ts";

/**
 * Decides whether the orchestrator may approve a completion (document 003): only if it reports that
 * everything passed, has one result for each criterion of its assignment, and nowhere contradicts itself. An auditor's
 * completion also needs the status `APPROVED`.
 */
export function judgeCompletion(
  completion: Pick<TaskCompletion, "task_id" | "validation" | "approval_status" | "output">,
  assignment: Pick<TaskAssignment, "task_id" | "acceptance_criteria">,
): Approval {
  const { acceptance_criteria_met: met, all_passed: passed } = completion.validation ?? {};
  const approval = completion.approval_status;
  const criteria = assignment.acceptance_criteria;
  const reasons: string[] = [];
  if (completion.task_id !== assignment.task_id) {
    reasons.push(`It is about task ${completion.task_id}, not ${assignment.task_id}.`);
  }
  if (passed !== true) reasons.push('"validation.all_passed" is not true.');
  if (met && met.length !== criteria.length) {
    reasons.push(`"acceptance_criteria_met" has ${met.length} results for ${criteria.length} criteria.`);
  } else if (met) {
    for (const [index, each] of met.entries())
      if (!each) reasons.push(sentence("Criterion not met: {criterion}", { criterion: criteria[index]! }));
  } else if (approval === undefined) {
    reasons.push('"acceptance_criteria_met" is missing.');
  }
  if (approval !== undefined && approval !== "APPROVED") reasons.push(`The auditor's decision is ${approval}.`);
  if (completion.output?.blocking_deployment === true) reasons.push('"output.blocking_deployment" is true.');
  return { approved: reasons.length === 0, reasons };
}
