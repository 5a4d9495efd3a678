// A role that cannot go on escalates a blocker (document 003). The answer is part of its next prompt.
import { addItem, answered } from "../inbox/inbox.ts";
import { workerOf } from "../lookup.ts";
import { queueMessage } from "./team.ts";
import type { ReadMessage, TurnOver } from "../command.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** The escalation of a turn without a completion. */
export const blockerOf = ({ messages = [] }: TurnOver): ReadMessage | null =>
  messages.findLast(({ type, reasons }) => type === "BLOCKER_ESCALATION" && reasons.length === 0) ?? null;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function raiseBlocker(run: Run, worker: Worker, { body }: ReadMessage, itemId: string, at: number): RunEvent[] {
  const { taskId, sessionId } = worker;
  const listed = Array.isArray(body["options"]) ? body["options"] : [];
  const options = listed.map((option) => (typeof option === "string" ? option : JSON.stringify(option)));
  const question = textOf(body["description"]) || `${worker.task.role} is blocked and gave no description.`;
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
  return [blockerRaised(run, item, body), addItem(run, item, at)];
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

/** The user's decision becomes a message to the blocked session, if it still waits for one. A tool call returns it. */
export function resolveBlocker(run: Run, item: InboxItem, decision: string, at: number): RunEvent[] {
  const { taskId } = item;
  // The main session has no task of which the log could tell.
  if (taskId === null) return [answered(run, item, decision)];
  const worker = workerOf(run, taskId);
  const resolved: RunEvent = {
    type: "blocker:resolved",
    data: { id: run.id, taskId, itemId: item.id, decision, by: "human" },
  };
  const settled = [answered(run, item, decision), resolved];
  if (item.askId !== null || worker?.sessionId !== item.sessionId) return settled;
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
  return [...settled, queueMessage(run, { type: "BLOCKER_RESOLUTION", from: "human", to, taskId, sessionId, body }, 0)];
}
