import { waitsForUser } from "../../run/inbox/waits-for-user.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver, type RunStatus } from "../../schema/status.ts";

/** Statuses that end only with a command of the user. */
const RESTING: ReadonlySet<RunStatus> = new Set(["created", "confirming", "paused"]);

/**
 * Whether the run needs nothing but a process that works on it. `engineSince` is the start of the engine that has the
 * data folder, or null. An engine works only on the runs of its commands, and has then stored an event of the run.
 */
export function isInterrupted(run: Run, engineSince: number | null, now: number): boolean {
  if (engineSince !== null && run.updatedAt >= engineSince) return false;
  return !isRunOver(run.status) && !RESTING.has(run.status) && !waitsForUser(run, now);
}
