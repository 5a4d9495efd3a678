// Messages from the user to a running session. The log stores a message first. An agent that can receives it during its
// turn; otherwise the next turn of the session includes it. An answer from a turn without the message is discarded, and
// the turn is repeated with the message.
import type { Order, TurnOver } from "../command.ts";
import { refused } from "../plan/confirm.ts";
import { noSuchTask, taskOf, workerOf } from "../lookup.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, isWorkerOver } from "../../schema/status.ts";

/**
 * Accepts a worker that has not started, which gets the message with its first turn, but no finished one
 * (`isWorkerOver`). The result of a sub-session is accepted once, because its sender may repeat it after a crash.
 */
export function sendMessage(run: Run, { taskId, text, now, from }: Extract<Order, { type: "message" }>): RunEvent[] {
  if (isRunOver(run.status)) throw refused(run, "sent a message", `it is ${run.status}`);
  if (taskId !== null) {
    if (!taskOf(run, taskId)) throw noSuchTask(run, taskId);
    const { status } = workerOf(run, taskId) ?? {};
    if (status && isWorkerOver(status)) throw refused(run, "sent a message", `the worker of "${taskId}" is ${status}`);
  }
  if (from !== undefined && run.messages.some((each) => each.from === from && each.text === text)) return [];
  const more = { ...(now ? { now } : {}), ...(from === undefined ? {} : { from }) };
  return [{ type: "message:sent", data: { id: run.id, taskId, text, ...more } }];
}

/** Reports that the agent has received message number `index`. */
export function steered(run: Run, sessionId: string, taskId: string | null, index: number): RunEvent[] {
  const message = run.messages[index];
  if (!message || message.told || message.taskId !== taskId) return [];
  return [{ type: "message:steered", data: { id: run.id, sessionId, taskId, message: index } }];
}

/** Sets `told` of all messages to the session. */
export function markTold(run: Run, taskId: string | null): Run["messages"] {
  const isNew = (message: Run["messages"][number]) => message.taskId === taskId && !message.told;
  if (!run.messages.some(isNew)) return run.messages;
  return run.messages.map((message) => (isNew(message) ? { ...message, told: true } : message));
}

export function discardOutdatedAnswer(run: Run, taskId: string | null, over: TurnOver): TurnOver {
  const isLate = run.messages.some((message) => message.taskId === taskId && !message.told && !message.isReminder);
  if (!isLate || over.ending.kind !== "ended") return over;
  return {
    ...over,
    answer: null,
    messages: [],
    ending: { kind: "interrupted", detail: "the user sent a message during the turn" },
  };
}
