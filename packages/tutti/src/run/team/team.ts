// The role of a task (`roleOf`), and the messages between the roles of a team. Document 003 defines their bodies.
import { sha256 } from "../fold/sha256.ts";
import { taskOf } from "../lookup.ts";
import { mailboxAssignment, mailboxRejection, type MailPaths } from "./mailbox-message.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import { leadOf, type TeamRole } from "../../schema/team/roles.ts";
import type { QueuedMessage, TeamMessage } from "../../schema/team/team-message.ts";
import type { Worker } from "../../schema/worker.ts";

/** Returns null for a task that no role does. */
export function roleOf({ template }: Run, { role }: { role?: Task["role"] | undefined }): TeamRole | null {
  const { roles } = template;
  return role !== undefined && roles && Object.hasOwn(roles, role) ? roles[role]! : null;
}

/** Returns null if the run is no team. */
export const leadOfRun = ({ template }: Pick<Run, "template">): string | null =>
  template.roles ? leadOf(template.roles) : null;

const basename = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== "") ?? "";

/** `response` is the protocol of a task that no role does (`roleOf`). */
export const protocolOf = (run: Run, task: { role?: Task["role"] | undefined }): TeamRole["protocol"] =>
  roleOf(run, task)?.protocol ?? "response";

/** Messages that one command queues need a different `index`. */
export function queueMessage(
  run: Run,
  message: Omit<QueuedMessage, "id" | "protocol"> & { protocol?: string },
  index: number,
): EventOf<"message:queued"> {
  const id = `msg_${sha256([run.id, run.runSeq, message.sessionId, message.type, index].join(" ")).slice(0, 10)}`;
  const role = taskOf(run, message.taskId)?.role;
  const own = protocolOf(run, { role });
  const protocol = own === "mailbox" || own === "tools" ? own : "messages";
  return { type: "message:queued", data: { id: run.id, message: { id, protocol, ...message } } };
}

/**
 * The assignment of a new session, in the protocol of its role (`protocolOf`). `start` is the commit that the session
 * works on.
 */
export function assign(run: Run, worker: Worker, { start, mail }: NewSession, at: number): RunEvent[] {
  const { task, taskId, sessionId } = worker;
  const protocol = protocolOf(run, task);
  if (protocol === "response") return [];
  if (protocol === "delegation") return [delegate(run, worker, at)];
  const from = parentRole(run, task);
  const to = task.role!;
  const deadline = newDeadline(run, at);
  const notes = givenContext(task);
  if (protocol === "mailbox") {
    const body = { ...mailboxAssignment(run, worker, mail, notes, at), ...(deadline === null ? {} : { deadline }) };
    return [queueMessage(run, { type: "task_assignment", from, to, taskId, sessionId, body }, 0)];
  }
  const body = {
    message_type: "TASK_ASSIGNMENT",
    task_id: taskId,
    from_agent: from,
    to_agent: to,
    timestamp: new Date(at).toISOString(),
    task_name: task.title,
    priority: priorityWord(task.priority),
    requirements: task.requirements ?? [task.description],
    acceptance_criteria: task.acceptanceCriteria ?? [],
    context: {
      project: basename(run.cwd),
      request: run.userRequest,
      commit: start,
      ...(notes.length > 0 ? { notes } : {}),
    },
    blocked_by: null,
    related_tasks: task.dependencies,
    ...(task.filesToReview ? { files_to_review: task.filesToReview } : {}),
    ...(deadline === null ? {} : { deadline }),
  };
  return [queueMessage(run, { type: "TASK_ASSIGNMENT", from, to, taskId, sessionId, body }, 0)];
}

/** Null if the `team` of the template sets no deadline. */
function newDeadline({ template }: Run, at: number): string | null {
  const { deadline } = template.team ?? {};
  return deadline === undefined ? null : new Date(at + deadline).toISOString();
}

interface NewSession {
  start: string;
  mail?: MailPaths | undefined;
}

/** Sends the work of a role back, with the `reasons` and the members that the judge has `given`. */
export function rejection(
  run: Run,
  worker: Worker,
  { by, reasons, given }: { by: string; reasons: string[]; given: Record<string, unknown> },
  index: number,
  at: number,
): RunEvent {
  const { taskId, sessionId, task } = worker;
  const to = task.role!;
  if (protocolOf(run, task) === "mailbox") {
    const body = mailboxRejection(messageTo(run, sessionId)?.body ?? {}, reasons, at);
    return queueMessage(run, { type: "task_assignment", from: by, to, taskId, sessionId, body }, index);
  }
  const timestamp = new Date(at).toISOString();
  const fixed = { message_type: "TASK_REJECTION", task_id: taskId, from_agent: by, to_agent: to, timestamp };
  const body = { reason: reasons[0]!, issues: reasons, ...given, ...fixed };
  return queueMessage(run, { type: "TASK_REJECTION", from: by, to, taskId, sessionId, body }, index);
}

/** Approves the work of a role. Document 001 calls the message a `review_result`. */
export function approval(run: Run, worker: Worker, by: string, at: number): EventOf<"message:queued"> {
  const { taskId, sessionId, task } = worker;
  const to = task.role!;
  const isMail = protocolOf(run, task) === "mailbox";
  const timestamp = new Date(at).toISOString();
  const body = isMail
    ? { review_result: { taskId, approved: true }, timestamp }
    : { message_type: "TASK_APPROVAL", task_id: taskId, from_agent: by, to_agent: to, timestamp };
  const type = isMail ? "review_result" : "TASK_APPROVAL";
  return queueMessage(run, { type, from: by, to, taskId, sessionId, body }, 0);
}

/** The context that the session of a delegated task gets from its parent, with later answers and reasons. */
function givenContext({ delegation }: Task): string[] {
  const { context } = delegation?.message ?? {};
  return [typeof context === "string" ? context : "", ...(delegation?.notes ?? [])].filter((part) => part !== "");
}

/** A task outside of a team has no role, so `nameOf` returns "worker". */
export const nameOf = ({ role }: Task): string => role ?? "worker";

/** Returns the lead's role for a task of the main session. */
export function parentRole(run: Run, { delegation }: Task): string {
  const parent = delegation?.parent == null ? undefined : taskOf(run, delegation.parent);
  return parent ? nameOf(parent) : (leadOfRun(run) ?? "orchestrator");
}

/** The `new_task` message of document 002. The plan may have changed since the parent wrote `delegation.message`. */
function delegate(run: Run, { task, taskId, sessionId, attempt }: Worker, at: number): RunEvent {
  const { delegation, role: to = "" } = task;
  const from = parentRole(run, task);
  const { context: _, ...written } = delegation?.message ?? {};
  const context = givenContext(task);
  const deadlineHint = newDeadline(run, at);
  const body = {
    ...(deadlineHint === null ? {} : { deadlineHint }),
    ...written,
    taskId,
    parentTaskId: delegation?.parent ?? run.id,
    delegatedToMode: to,
    objective: task.description,
    ...(context.length > 0 ? { context: context.join("\n\n") } : {}),
    ...(task.acceptanceCriteria ? { acceptanceCriteria: task.acceptanceCriteria } : {}),
    ...(task.requirements ? { constraintsAndRules: task.requirements } : {}),
    priority: priorityWord(task.priority),
    attempt,
    timestamp: new Date(at).toISOString(),
  };
  return queueMessage(run, { type: "new_task", protocol: "delegation", from, to, taskId, sessionId, body }, 0);
}

export const priorityWord = (priority: number): string => (priority <= 3 ? "high" : priority <= 7 ? "medium" : "low");

/** Types of the messages of a worker's session that count. Only its messages can be rejected. */
const SENT_BY_WORKERS: ReadonlySet<string> = new Set([
  "TASK_ACKNOWLEDGMENT",
  "TASK_COMPLETION",
  "BLOCKER_ESCALATION",
  "completion_report",
  "attempt_completion",
]);

/** Whether the session of the message receives it. A parent may have the same role, so the names do not show that. */
export const isReceived = ({ type, state }: TeamMessage): boolean => state !== "rejected" && !SENT_BY_WORKERS.has(type);

/** The newest message that the session received: its assignment, or the answer to one that it sent. */
export const messageTo = (run: Run, sessionId: string): TeamMessage | null =>
  (run.teamMessages ?? []).findLast((message) => message.sessionId === sessionId && isReceived(message)) ?? null;

/** The new turn of the session contains `messageTo` it, which is delivered once. */
export function deliverMessage(run: Run, sessionId: string): RunEvent[] {
  const message = messageTo(run, sessionId);
  if (message?.state !== "queued") return [];
  return [{ type: "message:delivered", data: { id: run.id, messageId: message.id, taskId: message.taskId } }];
}
