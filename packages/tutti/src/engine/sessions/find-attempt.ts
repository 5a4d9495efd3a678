// `findAttempt` finds an earlier attempt in the log. The state of a run contains only the newest one.
import { apply } from "../../run/apply.ts";
import { workerOf } from "../../run/lookup.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** Returns the `Worker` as it was when the session ended. `events` are all events of its run, in order. */
export function findAttempt(events: readonly StoredEvent[], sessionId: string): Worker | null {
  const taskId = taskOf(events, sessionId);
  if (taskId === null) return null;
  let run: Run | null = null;
  let found: Worker | null = null;
  for (const event of events) {
    run = apply(run, event);
    if (event.type === "worker:lost" && event.data.sessionId === sessionId) {
      // `worker:lost` lets the run retry the task, but this attempt has failed.
      return found && { ...found, status: "failed", error: event.data.reason, errorCode: "session_lost" };
    }
    const worker = workerOf(run, taskId);
    // A `pending` worker has been reset for its next attempt.
    if (worker?.sessionId === sessionId && worker.status !== "pending") found = worker;
    else if (found) return found;
  }
  return found;
}

function taskOf(events: readonly StoredEvent[], sessionId: string): string | null {
  for (const event of events) {
    if (event.type === "worker:spawning" && event.data.sessionId === sessionId) return event.data.taskId;
  }
  return null;
}
