// `judgeResubmission` decides whether a rejected task may be approved now (document 003): all listed issues must be
// fixed, and the agent must describe the fixes.
import type { Approval } from "../response/profile.ts";
import { isSameJson } from "../json/same-json.ts";
import { judgeCompletion } from "./judge-completion.ts";
import type { TaskAssignment, TaskCompletion, TaskRejection } from "./message-reading.ts";

export function judgeResubmission(
  completion: Pick<TaskCompletion, "task_id" | "validation" | "approval_status" | "output">,
  assignment: Pick<TaskAssignment, "task_id" | "acceptance_criteria">,
  rejection: Pick<TaskRejection, "issues">,
  rejected: Pick<TaskCompletion, "output">,
): Approval {
  const { reasons } = judgeCompletion(completion, assignment);
  const remaining = completion.validation?.issues ?? [];
  for (const issue of rejection.issues ?? []) {
    const isOpen = remaining.some((each) => isSameJson(each, issue));
    if (isOpen) reasons.push(`Not fixed: ${typeof issue === "string" ? issue : JSON.stringify(issue)}`);
  }
  // The document has no member for these notes. An unchanged `summary` does not count as notes.
  const notes = completion.output?.summary?.trim() ?? "";
  if (notes === "" || notes === rejected.output?.summary?.trim()) {
    reasons.push('"output.summary" does not describe the fixes.');
  }
  return { approved: reasons.length === 0, reasons };
}
