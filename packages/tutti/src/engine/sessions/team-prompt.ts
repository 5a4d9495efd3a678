import { judgeCompletion } from "../../protocol/messages/judge-completion.ts";
import { judgeResubmission } from "../../protocol/messages/judge-resubmission.ts";
import type { TaskCompletion, TaskRejection } from "../../protocol/messages/message-reading.ts";
import { isReview } from "../../run/team/gate.ts";
import { dutyOf } from "../../run/team/lead-duty.ts";
import { leadOfRun, messageTo, protocolOf } from "../../run/team/team.ts";
import type { Run } from "../../schema/run.ts";
import { boxOf } from "../../schema/team/roles.ts";
import type { Worker } from "../../schema/worker.ts";

const INTRODUCTIONS: Record<string, string> = {
  TASK_ASSIGNMENT: "This is your task. Do it now, in the current folder.",
  TASK_REJECTION:
    "Your completion was rejected. Fix every listed issue in the current folder, then send another TASK_COMPLETION whose summary says what you fixed.",
  BLOCKER_RESOLUTION: "Your blocker was resolved. Continue with your task.",
};

/** The prompt of a role that speaks messages. It ends with `messageTo` the role, as one fenced JSON object. */
export function renderTeamPrompt(run: Run, worker: Worker): string {
  const message = messageTo(run, worker.sessionId);
  const { role = "" } = worker.task;
  const rules = `You are ${role}, one role of a team of agents in Tutti. ${leadOfRun(run)} leads the team.

Rules:
- Work only on your task, in the current folder, which is a git worktree of your own. Make no commits, switch no branches and push nothing.
- Answer with messages: JSON objects in your text, each with "message_type", "task_id", "from_agent" (${JSON.stringify(role)}) and "timestamp". Only these objects are read.
- First send a TASK_ACKNOWLEDGMENT: "status" is "acknowledged". If the task is not clear to you, put your questions into its "clarifications_needed" and end your turn; the answers reach you with the next one.
- When the task is done, send a TASK_COMPLETION: "status" is "completed", "output" has "files" and "summary", and "validation" has "acceptance_criteria_met" (one boolean for each criterion), "all_passed" and "issues". Check every criterion first, and report honestly: a completion that does not meet all criteria is sent back to you. Be specific: name files, commands and places.
- As soon as something stops you, or you need a decision, send a BLOCKER_ESCALATION instead of a completion: "blocker_type" (clarification_needed, technical_blocker, dependency_missing or scope_change), "severity", "description", "options" and "suggested_resolution".`;
  const review = isReview(run, worker.task)
    ? `- Your completion also has "approval_status": APPROVED, CONDITIONAL or REJECTED. "output" has "critical_issues", "high_issues", "medium_issues", "low_issues", "recommendations" and "blocking_deployment"; "validation" has "security_passed", "production_readiness_passed", "scalability_passed" and "all_passed". Write the completion as one JSON object on lines of its own, and quote no other message. Change no files: your changes would be dropped.`
    : "";
  const introduction = INTRODUCTIONS[message?.type ?? "TASK_ASSIGNMENT"]!;
  const fenced = fence(message?.body ?? {});
  return [[rules, review].filter((part) => part !== "").join("\n"), introduction, fenced].join("\n\n");
}

/**
 * The prompt of a role that works on the mailbox: the mail stays in its file, and `reportTo` names the file for the
 * report.
 */
export function renderMailPrompt(run: Run, worker: Worker): string {
  const { role = "" } = worker.task;
  const { reportTo = "", platform = "custom" } = messageTo(run, worker.sessionId)?.body ?? {};
  const reports = String(reportTo);
  const box = reports.replace(/[^/\\]*$/, `to-${boxOf(role)}.json`);
  const report = {
    type: "completion_report",
    taskId: worker.taskId,
    platform,
    status: "awaiting_review",
    summary: "What you did, and how you checked it",
    filesCreated: ["path/to/new-file"],
    filesModified: ["path/to/changed-file"],
    buildResult: { status: "success", command: "the command that you ran", errors: 0 },
    timestamp: "the current time, as 2026-01-01T00:00:00.000Z",
  };
  return `You are ${role}, one role of a team of agents in Tutti. ${leadOfRun(run)} leads the team.

There is mail for you: the newest message with "taskId" ${JSON.stringify(worker.taskId)} in ${box}

Rules:
- Read that file. Its list "messages" has your task with its instructions. Then set "lastRead" in the file to the current time.
- Work only on your task, in the current folder, which is a git worktree of your own. Make no commits, switch no branches and push nothing.
- Build and check your work. If the build fails, fix it. If you cannot, report honestly, with the output of the build.
- Then append your report to the list "messages" in ${reports}, and keep the other messages. Answer only after that.
- "buildResult.status" is success, failed, not_applicable or not_verified. If you find no instructions, report that in "summary" with "not_verified".

The report:

${fence(report)}`;
}

const NEWS: Record<string, string> = {
  TASK_ASSIGNMENT: "There is a task for you.",
  TASK_REJECTION: "Your report was rejected. Fix every listed issue in the current folder, then report again.",
  BLOCKER_RESOLUTION: "Your blocker was resolved. Continue with your task.",
};

/** The prompt of a role with the protocol `tools`, which reads `messageTo` it with the tool `read_task`. */
export function renderToolPrompt(run: Run, worker: Worker): string {
  const { type = "TASK_ASSIGNMENT" } = messageTo(run, worker.sessionId) ?? {};
  return `You are ${worker.task.role}, one role of a team of agents in Tutti. ${leadOfRun(run)} leads the team.

${NEWS[type]} Read the message to you with the tool read_task of the MCP server tutti.

Rules:
- Work only on your task, in the current folder, which is a git worktree of your own. Make no commits, switch no branches and push nothing.
- When the task is done, call the tool attempt_completion with "result", "summary", "output_files" and "acceptance_criteria_met" (one boolean for each criterion). Check every criterion first, and report honestly: work that does not meet all criteria is sent back to you. Then end your turn.
- As soon as something stops you, or you need a decision of ${leadOfRun(run)}, call escalate_blocker, then end your turn. The tool ask waits for an answer of the user.
- Only these calls count. The text of your answer is not read.`;
}

export const fence = (value: object): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

/** The prompt of the lead about its `dutyOf` a worker: a completion to judge, or a blocker to resolve. */
export function renderLeadPrompt(run: Run): string {
  const duty = dutyOf(run);
  if (duty === null) return "";
  const { worker, awaits } = duty;
  const { task, taskId } = worker;
  const lead = leadOfRun(run)!;
  const members = `"task_id" (${JSON.stringify(taskId)}), "from_agent" (${JSON.stringify(lead)}) and "timestamp"`;
  const intro = `You are ${lead}, the lead of a team of agents in Tutti. The request of the user:\n${run.userRequest}`;
  const about = `Task ${taskId} of ${task.role}: ${task.title}\nRequirements:\n${list(task.requirements ?? [task.description])}`;
  if (awaits.kind === "resolution") {
    const ask = `${task.role} is blocked and asks you. Answer with one JSON object in your text: a BLOCKER_RESOLUTION with "message_type", ${members}, "decision", "rationale", "resume_task" (true, or false to stop the task) and, if they change, "modified_requirements". If only the user can decide, answer with a BLOCKER_ESCALATION with "escalate_to": "human".`;
    return [intro, about, ask, fence(awaits.body)].join("\n\n");
  }
  const isMail = protocolOf(run, task) === "mailbox";
  const remarks = isMail ? remarksOnBuild(awaits.body) : remarksOn(run, worker, awaits.body);
  const ask = isMail
    ? reviewOf(worker)
    : `${task.role} reports that its task is complete. The current folder contains its work. Check every acceptance criterion yourself, and change nothing. Then answer with one JSON object in your text:
- a TASK_APPROVAL with "message_type", ${members} if all criteria are met;
- else a TASK_REJECTION with "message_type", ${members}, "reason", "issues" (one for each problem, with its place), "acceptance_criteria_met" (one boolean for each criterion) and "action_required".`;
  const facts = [
    `Acceptance criteria:\n${list(task.acceptanceCriteria ?? [])}`,
    `Changed files: ${awaits.work?.outputFiles.join(", ") || "none"}`,
    ...(remarks.length > 0 ? [`Remarks of Tutti:\n${list(remarks)}`] : []),
  ];
  return [intro, about, ...facts, ask, fence(awaits.body)].join("\n\n");
}

/** Document 001 calls the verdict a `review_result`. */
function reviewOf({ taskId, task }: Worker): string {
  const result = (approved: boolean, reason: string) => JSON.stringify({ review_result: { taskId, approved, reason } });
  return `${task.role} reports that its task is complete. The current folder contains its work. Check every acceptance criterion yourself, and change nothing. Then answer with one JSON object in your text:
- if all criteria are met: ${result(true, "what you checked")}
- else: ${result(false, "every problem, with its place")}`;
}

function remarksOnBuild({ buildResult }: Record<string, unknown>): string[] {
  const { status, errors } = (buildResult ?? {}) as { status?: unknown; errors?: unknown };
  if (status === "not_verified") return ["The build was not verified."];
  return status === "success" && typeof errors === "number" && errors > 0
    ? [`The build is reported as a success with ${errors} errors.`]
    : [];
}

export const list = (sentences: readonly string[]): string => sentences.map((sentence) => `- ${sentence}`).join("\n");

/** Returns the problems that `body` itself shows, such as criteria that it does not report as met. */
function remarksOn(run: Run, { taskId, sessionId, task }: Worker, body: Record<string, unknown>): string[] {
  const assignment = { task_id: taskId, acceptance_criteria: task.acceptanceCriteria ?? [] };
  const read = (value: Record<string, unknown>) => ({ ...readLoosely(value), task_id: taskId });
  const earlier = (type: string) =>
    (run.teamMessages ?? []).findLast(
      (each) => each.sessionId === sessionId && each.type === type && each.body !== body,
    );
  const rejection = earlier("TASK_REJECTION");
  const rejected = (run.teamMessages ?? [])
    .filter((each) => each.sessionId === sessionId && each.type === "TASK_COMPLETION")
    .at(-2);
  return rejection && rejected
    ? judgeResubmission(read(body), assignment, readLoosely(rejection.body), read(rejected.body)).reasons
    : judgeCompletion(read(body), assignment).reasons;
}

/** The messages were checked when they arrived, so `readLoosely` only names the members that the judges read. */
const readLoosely = (body: Record<string, unknown>) =>
  body as Pick<TaskCompletion, "validation" | "approval_status" | "output"> & Pick<TaskRejection, "issues">;
