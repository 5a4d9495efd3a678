import type { Approval } from "../response/profile.ts";
import { mismatchesTask, OPEN_ISSUES } from "./delegation-message.ts";
import type { AttemptCompletion, NewTask } from "./delegation-schema.ts";
import { projectPath } from "./project-memory.ts";

/**
 * Decides whether a report closes its task (document 002): it must claim success, leave no issue open and
 * deliver every expected output. The delegating agent checks the acceptance criteria itself.
 */
export function judgeReport(
  report: Pick<AttemptCompletion, "taskId" | "result" | "outputArtifacts" | "issues_encountered">,
  task: Pick<NewTask, "taskId" | "expectedOutputs">,
): Approval {
  const reasons = mismatchesTask(report, task).map(({ sentence }) => sentence);
  if (report.result !== "success") reasons.push(`The result is "${report.result}".`);
  for (const { type, description } of report.issues_encountered ?? []) {
    if (OPEN_ISSUES.some((open) => open === type)) reasons.push(`An issue is open: ${description ?? type}`);
  }
  const made = new Set((report.outputArtifacts ?? []).map(({ path }) => projectPath(path ?? "")));
  for (const { path = "" } of task.expectedOutputs ?? []) {
    if (!made.has(projectPath(path))) reasons.push(`An expected output is missing: ${path}`);
  }
  return { approved: reasons.length === 0, reasons };
}
