// Whether a task that was sent back may be approved now (document 003): everything that was listed is fixed, and the
// agent says what it did about it.
import type { Approval } from "../profile.ts";
import { isSameJson } from "../same-json.ts";
import { judgeCompletion } from "./judge-completion.ts";
import type { TaskAssignment, TaskCompletion, TaskRejection } from "./message-reading.ts";

export function judgeResubmission(
  completion: Pick<TaskCompletion, "task_id" | "validation" | "approval_status" | "output">,
  assignment: Pick<TaskAssignment, "task_id" | "acceptance_criteria">,
  rejection: Pick<TaskRejection, "issues">,
  rejected: Pick<TaskCompletion, "output">,
): Approval {
  const { reasons } = judgeCompletion(completion, assignment);
  const left = completion.validation?.issues ?? [];
  for (const issue of rejection.issues ?? []) {
    const isLeft = left.some((each) => isSameJson(each, issue));
    if (isLeft) reasons.push(`Not fixed: ${typeof issue === "string" ? issue : JSON.stringify(issue)}`);
  }
  // The document gives the notes no member of their own. A summary that still says the same is none.
  const notes = completion.output?.summary?.trim() ?? "";
  if (notes === "" || notes === rejected.output?.summary?.trim()) {
    reasons.push('"output.summary" does not say what was fixed.');
  }
  return { approved: reasons.length === 0, reasons };
}
