// An earlier attempt at a task, as the log tells it. The state of a run holds only the newest.
import { apply } from "../run/apply.ts";
import { workerOf } from "../run/lookup.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Worker } from "../schema/worker.ts";

/** The worker as it stood when that session's part was over; `events` are all of its run, in order. */
export function findAttempt(events: readonly StoredEvent[], sessionId: string): Worker | null {
  const taskId = taskOf(events, sessionId);
  if (taskId === null) return null;
  let run: Run | null = null;
  let found: Worker | null = null;
  for (const event of events) {
    run = apply(run, event);
    if (event.type === "worker:lost" && event.data.sessionId === sessionId) {
      // The run itself only starts the task anew; this attempt has failed.
      return found && { ...found, status: "failed", error: event.data.reason, errorCode: "session_lost" };
    }
    const worker = workerOf(run, taskId);
    // What waits for its next attempt has been emptied for it.
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
