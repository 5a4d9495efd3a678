// Where a task stands, told from the messages about it (document 003).
//
// 1. Every message of the task leaves it in exactly one stage, and says who has to act next.
// 2. Only a completion can lead to approval, and after a rejection only one that answers it.
// 3. A blocker stops the task until it is resolved; then it stands where it stood.
import type { Approval } from "../profile.ts";
import { escalationTarget } from "./agent-message.ts";
import { judgeCompletion } from "./judge-completion.ts";
import { judgeResubmission } from "./judge-resubmission.ts";
import type { AgentMessage, TaskAssignment, TaskCompletion, TaskRejection } from "./message-reading.ts";

export type TaskStage = "assigned" | "acknowledged" | "blocked" | "stopped" | "refused" | "rejected" | "approved";

export interface TaskThread {
  stage: TaskStage;
  /** Who has to act; null if nobody has to. */
  waitsFor: string | null;
  /** What blocks the task, or why it is not approved. */
  reasons: string[];
}

/** The stages that a task goes through, one for each message about it, beginning with its assignment. */
export function followTask(assignment: TaskAssignment, messages: readonly AgentMessage[]): TaskThread[] {
  const agent = assignment.to_agent;
  const threads: TaskThread[] = [{ stage: "assigned", waitsFor: agent, reasons: [] }];
  let rejected: TaskCompletion | null = null;
  let rejection: TaskRejection | null = null;
  let before = threads[0]!;
  for (const message of messages) {
    if (message.task_id !== assignment.task_id) continue;
    let thread = threads.at(-1)!;
    if (message.message_type === "TASK_ACKNOWLEDGMENT") {
      if (thread.stage === "assigned") thread = { stage: "acknowledged", waitsFor: agent, reasons: [] };
    } else if (message.message_type === "TASK_COMPLETION") {
      thread = judged(
        rejection && rejected
          ? judgeResubmission(message, assignment, rejection, rejected)
          : judgeCompletion(message, assignment),
        assignment,
      );
      rejected = message;
    } else if (message.message_type === "TASK_REJECTION") {
      rejection = message;
      thread = { stage: "rejected", waitsFor: agent, reasons: [message.reason ?? "No reason was given."] };
    } else if (message.message_type === "BLOCKER_ESCALATION") {
      if (thread.stage !== "blocked") before = thread;
      thread = { stage: "blocked", waitsFor: escalationTarget(message), reasons: [message.description ?? ""] };
    } else if (message.message_type === "BLOCKER_RESOLUTION" && thread.stage === "blocked") {
      thread = message.resume_task === false ? { stage: "stopped", waitsFor: null, reasons: thread.reasons } : before;
    }
    threads.push(thread);
  }
  return threads;
}

function judged({ approved, reasons }: Approval, assignment: TaskAssignment): TaskThread {
  if (approved) return { stage: "approved", waitsFor: null, reasons };
  return { stage: "refused", waitsFor: assignment.from_agent ?? "ORCHESTRATOR", reasons };
}

/** Whether the tasks that block this one are all approved. */
export function mayStart(
  { blocked_by: blockers }: Pick<TaskAssignment, "blocked_by">,
  isApproved: (taskId: string) => boolean,
): boolean {
  const names = typeof blockers === "string" ? [blockers] : (blockers ?? []);
  return names.every((name) => isApproved(name));
}
