// Derives the stage of a task from its messages (document 003).
//
// 1. After every message, the task is in exactly one stage, and `waitsFor` names the agent that has to act next.
// 2. Only a completion can lead to approval. After a rejection, the completion must also address its issues.
// 3. A blocker suspends the task until it is resolved. Then the task returns to its previous stage.
import type { Approval } from "../response/profile.ts";
import { escalationTarget } from "./agent-message.ts";
import { judgeCompletion } from "./judge-completion.ts";
import { judgeResubmission } from "./judge-resubmission.ts";
import type { AgentMessage, TaskAssignment, TaskCompletion, TaskRejection } from "./message-reading.ts";

type TaskStage = "assigned" | "acknowledged" | "blocked" | "stopped" | "refused" | "rejected" | "approved";

export interface TaskThread {
  stage: TaskStage;
  /** The agent that has to act; null if none has to. */
  waitsFor: string | null;
  /** The description of the blocker, or the reasons why the task is not approved. */
  reasons: string[];
}

/** Returns one entry per message of the task, preceded by one for the assignment. */
export function followTask(assignment: TaskAssignment, messages: readonly AgentMessage[]): TaskThread[] {
  const agent = assignment.to_agent;
  const threads: TaskThread[] = [{ stage: "assigned", waitsFor: agent, reasons: [] }];
  let rejected: TaskCompletion | null = null;
  let rejection: TaskRejection | null = null;
  let unblocked = threads[0]!;
  for (const message of messages) {
    if (message.task_id !== assignment.task_id) continue;
    let thread = threads.at(-1)!;
    if (message.message_type === "TASK_ACKNOWLEDGMENT") {
      if (thread.stage === "assigned") thread = { stage: "acknowledged", waitsFor: agent, reasons: [] };
    } else if (message.message_type === "TASK_COMPLETION") {
      thread = threadAfter(
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
      if (thread.stage !== "blocked") unblocked = thread;
      thread = { stage: "blocked", waitsFor: escalationTarget(message), reasons: [message.description ?? ""] };
    } else if (message.message_type === "BLOCKER_RESOLUTION" && thread.stage === "blocked") {
      thread =
        message.resume_task === false ? { stage: "stopped", waitsFor: null, reasons: thread.reasons } : unblocked;
    }
    threads.push(thread);
  }
  return threads;
}

function threadAfter({ approved, reasons }: Approval, assignment: TaskAssignment): TaskThread {
  if (approved) return { stage: "approved", waitsFor: null, reasons };
  return { stage: "refused", waitsFor: assignment.from_agent ?? "ORCHESTRATOR", reasons };
}

export function mayStart(
  { blocked_by: blockers }: Pick<TaskAssignment, "blocked_by">,
  isApproved: (taskId: string) => boolean,
): boolean {
  const names = typeof blockers === "string" ? [blockers] : (blockers ?? []);
  return names.every((name) => isApproved(name));
}
