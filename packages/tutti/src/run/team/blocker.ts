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
  const about = { id: run.id, taskId, sessionId, itemId, description: question };
  const kinds = { blockerType: textOf(body["blocker_type"]), severity: textOf(body["severity"]) };
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
  return [{ type: "blocker:raised", data: { ...about, ...kinds } }, addItem(run, item, at)];
}

/** The user's decision becomes a message to the blocked session, if it still waits for one. */
export function resolveBlocker(run: Run, item: InboxItem, decision: string, at: number): RunEvent[] {
  const taskId = item.taskId!;
  const worker = workerOf(run, taskId);
  const resolved: RunEvent = {
    type: "blocker:resolved",
    data: { id: run.id, taskId, itemId: item.id, decision, by: "human" },
  };
  const settled = [answered(run, item, decision), resolved];
  if (worker?.sessionId !== item.sessionId) return settled;
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
