// What a person says to a session while it works. A message is an event first; the session hears it with its next turn.
// An answer that was given before the message could be heard does not count: the same is asked again, with the message.
import type { TurnOver } from "./command.ts";
import { refused } from "./confirm.ts";
import { taskOf, workerOf } from "./lookup.ts";
import { TuttiError } from "../schema/error.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver } from "../schema/status.ts";

/** Whoever has not begun yet hears it with the first turn; whoever is done hears nothing any more. */
export function sendMessage(run: Run, taskId: string | null, text: string): RunEvent[] {
  if (isRunOver(run.status)) throw refused(run, "given a message", `it is ${run.status}`);
  if (taskId !== null) {
    if (!taskOf(run, taskId)) throw new TuttiError("task_not_found", `run ${run.id} has no task ${taskId}`);
    const { status } = workerOf(run, taskId) ?? {};
    if (status && isWorkerOver(status)) throw refused(run, "given a message", `the worker of ${taskId} is ${status}`);
  }
  return [{ type: "message:sent", data: { id: run.id, taskId, text } }];
}

/** The messages after a turn has begun that says all those to one session. */
export function toldTo(run: Run, taskId: string | null): Run["messages"] {
  const isNew = (message: Run["messages"][number]) => message.taskId === taskId && !message.told;
  if (!run.messages.some(isNew)) return run.messages;
  return run.messages.map((message) => (isNew(message) ? { ...message, told: true } : message));
}

/** A turn during which a message came: it ends as if it had been interrupted for it. */
export function overtaken(run: Run, taskId: string | null, over: TurnOver): TurnOver {
  const isLate = run.messages.some((message) => message.taskId === taskId && !message.told);
  if (!isLate || over.ending.kind !== "ended") return over;
  return { ...over, answer: null, ending: { kind: "interrupted", detail: "the person has said something meanwhile" } };
}
