import type { MessageType } from "./message-schema.ts";

/** A `MessageSender` is known from its channel, not from the message. */
export interface MessageSender {
  names: readonly string[];
  /** True for the main session. */
  isLead: boolean;
  /** True for the security review. */
  isAuditor: boolean;
  taskId: string;
}

/** Only the orchestrator assigns, approves, rejects and resolves. */
const OF_LEAD = new Set<string>([
  "TASK_ASSIGNMENT",
  "TASK_REJECTION",
  "TASK_APPROVAL",
  "BLOCKER_RESOLUTION",
  // `BLOCKER_ESCALATION` of the lead goes to the user.
  "BLOCKER_ESCALATION",
]);
const OF_WORKERS = new Set<string>([
  "TASK_ACKNOWLEDGMENT",
  "TASK_COMPLETION",
  "BLOCKER_ESCALATION",
] satisfies MessageType[]);

/** Returns why the message has no effect; empty if this sender may send it. */
export function checkSender(body: Record<string, unknown>, sender: MessageSender): string[] {
  const { message_type: type, from_agent: from, task_id: taskId } = body;
  const reasons: string[] = [];
  const [name] = sender.names;
  if (!(sender.isLead ? OF_LEAD : OF_WORKERS).has(String(type))) reasons.push(`${name} may not send ${String(type)}.`);
  if (from !== undefined && !(typeof from === "string" && sender.names.includes(from)))
    reasons.push(`The message claims to be from ${JSON.stringify(from)}, but ${name} sent it.`);
  if (taskId !== undefined && taskId !== sender.taskId)
    reasons.push(`The message is about task ${JSON.stringify(taskId)}, not ${sender.taskId}.`);
  if (body["approval_status"] !== undefined && !sender.isAuditor)
    reasons.push('Only the security review may have an "approval_status".');
  return reasons;
}
