// `runTime` and `workerTime` exclude pauses: a clock that runs while nothing happens would be wrong.
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

/** Each tick draws a clock for every worker, so the clocks of a large run tick less often. */
export const clockStepMs = ({ tasks }: Run): number => (tasks.length > 40 ? 5000 : 1000);

/** Also excludes waits for the user (`idleMs`) and for a provider (`heldSince`). Null before the start. */
export function runTime({ startedAt, completedAt, idleMs, idleSince, heldSince }: Run, now: number): number | null {
  if (startedAt === null) return null;
  const since = idleSince ?? heldSince ?? null;
  const waits = completedAt !== null || since === null ? 0 : Math.max(0, now - since);
  return Math.max(0, (completedAt ?? now) - startedAt - idleMs - waits);
}

/** Time of the current attempt without `waitedMs`. Null before its start. */
export function workerTime({ startedAt, completedAt, session }: Worker, now: number): number | null {
  if (startedAt === null) return null;
  const since = session.pausedAt ?? session.refusedSince;
  const end = completedAt ?? (since === null ? now : Math.min(now, since));
  return Math.max(0, end - startedAt - session.waitedMs);
}
