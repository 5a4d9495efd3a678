// The role of a task, and the messages between the roles of a team. Document 003 defines their bodies.
import { sha256 } from "../fold/sha256.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import { leadOf, type TeamRole } from "../../schema/team/roles.ts";
import type { QueuedMessage, TeamMessage } from "../../schema/team/team-message.ts";
import type { Worker } from "../../schema/worker.ts";

/** Null for a task that no role does. */
export function roleOf({ template }: Run, { role }: { role?: Task["role"] | undefined }): TeamRole | null {
  const { roles } = template;
  return role !== undefined && roles && Object.hasOwn(roles, role) ? roles[role]! : null;
}

/** The name of the main session's role; null if the run is no team. */
export const leadOfRun = ({ template }: Pick<Run, "template">): string | null =>
  template.roles ? leadOf(template.roles) : null;

const basename = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== "") ?? "";

/** `index` tells messages apart that one command queues. */
export function queueMessage(run: Run, message: Omit<QueuedMessage, "id" | "protocol">, index: number): RunEvent {
  const id = `msg_${sha256([run.id, run.runSeq, message.sessionId, message.type, index].join(" ")).slice(0, 10)}`;
  return { type: "message:queued", data: { id: run.id, message: { id, protocol: "messages", ...message } } };
}

/** The assignment of a new session, if its role speaks messages. `start` is the commit that the session works on. */
export function assign(run: Run, worker: Worker, start: string, at: number): RunEvent[] {
  const { task, taskId, sessionId } = worker;
  if (roleOf(run, task)?.protocol !== "messages") return [];
  const from = leadOfRun(run)!;
  const to = task.role!;
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
    context: { project: basename(run.cwd), request: run.userRequest, commit: start },
    blocked_by: null,
    related_tasks: task.dependencies,
    ...(task.filesToReview ? { files_to_review: task.filesToReview } : {}),
  };
  return [queueMessage(run, { type: "TASK_ASSIGNMENT", from, to, taskId, sessionId, body }, 0)];
}

const priorityWord = (priority: number): string => (priority <= 3 ? "high" : priority <= 7 ? "medium" : "low");

/** The newest message to the session: its assignment, or the answer to what it sent. */
export const messageTo = (run: Run, sessionId: string): TeamMessage | null =>
  (run.teamMessages ?? []).findLast(({ sessionId: of, to }) => of === sessionId && to !== leadOfRun(run)) ?? null;

/** The new turn of the session contains the message to it, if it is a new one. */
export function deliverMessage(run: Run, sessionId: string): RunEvent[] {
  const message = messageTo(run, sessionId);
  if (message?.state !== "queued") return [];
  return [{ type: "message:delivered", data: { id: run.id, messageId: message.id, taskId: message.taskId } }];
}
