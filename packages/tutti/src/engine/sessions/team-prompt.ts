import { leadOfRun, messageTo } from "../../run/team/team.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

const INTRODUCTIONS: Record<string, string> = {
  TASK_ASSIGNMENT: "This is your task. Do it now, in the current folder.",
  TASK_REJECTION:
    "Your completion was rejected. Fix every listed issue in the current folder, then send another TASK_COMPLETION whose summary says what you fixed.",
  BLOCKER_RESOLUTION: "Your blocker was resolved. Go on with your task.",
};

/** The prompt of a role that speaks messages. It ends with the message to the role, as one fenced JSON object. */
export function renderTeamPrompt(run: Run, worker: Worker): string {
  const message = messageTo(run, worker.sessionId);
  const { role = "" } = worker.task;
  const rules = `You are ${role}, one role of a team of agents in Tutti. ${leadOfRun(run)} leads the team.

Rules:
- Work only on your task, in the current folder, which is a git worktree of your own. Make no commits, switch no branches and push nothing.
- Answer with messages: JSON objects in your text, each with "message_type", "task_id", "from_agent" (${JSON.stringify(role)}) and "timestamp". Only these objects are read.
- First send a TASK_ACKNOWLEDGMENT: "status" is "acknowledged".
- When the task is done, send a TASK_COMPLETION: "status" is "completed", "output" has "files" and "summary", and "validation" has "acceptance_criteria_met" (one boolean for each criterion), "all_passed" and "issues". Check every criterion first, and report honestly: a completion that does not meet all criteria is sent back to you.
- If you cannot go on, send a BLOCKER_ESCALATION instead of a completion: "blocker_type" (clarification_needed, technical_blocker, dependency_missing or scope_change), "severity", "description", "options" and "suggested_resolution".`;
  const review = worker.task.filesToReview
    ? `- Your completion also has "approval_status": APPROVED, CONDITIONAL or REJECTED. "output" has "critical_issues", "high_issues", "medium_issues", "low_issues", "recommendations" and "blocking_deployment"; "validation" has "security_passed", "production_readiness_passed", "scalability_passed" and "all_passed". Change no files: your changes would be dropped.`
    : "";
  const introduction = INTRODUCTIONS[message?.type ?? "TASK_ASSIGNMENT"]!;
  const fenced = `\`\`\`json\n${JSON.stringify(message?.body ?? {}, null, 2)}\n\`\`\``;
  return [[rules, review].filter((part) => part !== "").join("\n"), introduction, fenced].join("\n\n");
}
