// A role that cannot continue escalates a blocker (document 003). The answer of `resolveBlocker` is part of its next
// prompt.
import { addItem, answered } from "../inbox/inbox.ts";
import { workerOf } from "../lookup.ts";
import { textOf, type Body } from "./delegation.ts";
import { noteOf, redelegate } from "./redelegate.ts";
import { messageTo, queueMessage, roleOf } from "./team.ts";
import { actedOn, textsIn } from "./verdict.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** Document 003 leaves scope changes and critical blockers to the user, and everything else to the orchestrator. */
function isForUser({ escalate_to: to, blocker_type: type, severity }: Record<string, unknown>): boolean {
  if (typeof to === "string") return to.toLowerCase() === "human";
  return type === "scope_change" || severity === "critical";
}

/** `messageId` is the message that escalated, `itemId` the inbox item that it may become. */
interface BlockerIds {
  messageId: string;
  itemId: string;
}

/** Asks the user if the blocker `isForUser`, else the main session. */
export function escalate(run: Run, worker: Worker, body: Body, ids: BlockerIds, at: number): RunEvent[] {
  return isForUser(body) ? raiseBlocker(run, worker, body, ids, at) : [blocked(run, worker, body, ids.messageId, null)];
}

function blocked(
  run: Run,
  worker: Worker,
  body: Body,
  messageId: string,
  itemId: string | null,
): EventOf<"blocker:raised"> {
  const { taskId, sessionId } = worker;
  const description = textOf(body["description"]) || `${worker.task.role} is blocked and gave no description.`;
  const kinds = { blockerType: textOf(body["blocker_type"]), severity: textOf(body["severity"]) };
  const data = { id: run.id, taskId, sessionId, itemId, messageId, body, description, ...kinds };
  return { type: "blocker:raised", data };
}

export function raiseBlocker(run: Run, worker: Worker, body: Body, ids: BlockerIds, at: number): RunEvent[] {
  const { messageId, itemId } = ids;
  const { taskId, sessionId } = worker;
  const options = textsIn(body["options"]);
  const raised = blocked(run, worker, body, messageId, itemId);
  const question = raised.data.description;
  const item = {
    id: itemId,
    kind: "blocker" as const,
    taskId,
    sessionId,
    question,
    ...(options.length > 0 ? { options } : {}),
    evidence: body,
    risk: "medium" as const,
  };
  return [raised, addItem(run, item, at)];
}

interface BlockerItem extends Pick<InboxItem, "id" | "question"> {
  taskId: string;
  sessionId: string;
}

export function blockerRaised(
  run: Run,
  { id: itemId, taskId, sessionId, question }: BlockerItem,
  body: Record<string, unknown>,
): RunEvent {
  const kinds = { blockerType: textOf(body["blocker_type"]), severity: textOf(body["severity"]) };
  return { type: "blocker:raised", data: { id: run.id, taskId, sessionId, itemId, description: question, ...kinds } };
}

/**
 * The user's decision becomes a message to the blocked session, if it still waits for one. A blocker raised by a tool
 * call (`askId`) gets it as the result of the call.
 */
export function resolveBlocker(run: Run, item: InboxItem, decision: string, at: number): RunEvent[] {
  const { taskId } = item;
  // The main session has no task, so there is no event for the log.
  if (taskId === null) return [answered(run, item, decision)];
  const worker = workerOf(run, taskId);
  const resolved: RunEvent = {
    type: "blocker:resolved",
    data: { id: run.id, taskId, itemId: item.id, decision, by: "human" },
  };
  const settled = [answered(run, item, decision), resolved];
  if (item.askId !== null || worker?.sessionId !== item.sessionId) return settled;
  if (roleOf(run, worker.task)?.protocol === "delegation" || worker.task.delegation) {
    const note = noteOf({ description: item.question }, decision);
    return [...settled, ...redelegate(run, taskId, { note })];
  }
  const to = worker.task.role!;
  const body = {
    message_type: "BLOCKER_RESOLUTION",
    task_id: taskId,
    from_agent: "human",
    to_agent: to,
    timestamp: new Date(at).toISOString(),
    decision,
    resume_task: true,
  };
  const { sessionId } = worker;
  return [
    ...settled,
    ...actOnBlocker(run, worker),
    queueMessage(run, { type: "BLOCKER_RESOLUTION", from: "human", to, taskId, sessionId, body }, 0),
  ];
}

/** The escalation has its answer, and the message that led to it is not sent again. */
function actOnBlocker(run: Run, { taskId, sessionId }: Worker): RunEvent[] {
  const escalation = (run.teamMessages ?? []).findLast(
    (each) => each.sessionId === sessionId && each.type === "BLOCKER_ESCALATION" && each.state === "delivered",
  );
  const open = [escalation, messageTo(run, sessionId)].filter((message) => message?.actedAt === null);
  return actedOn(run, taskId, ...open.map((message) => message?.id));
}
