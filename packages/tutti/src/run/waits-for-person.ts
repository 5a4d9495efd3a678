// Whether a run stands still until a person says something.
import { activeWorkers } from "./lookup.ts";
import { schedule } from "./schedule.ts";
import { valuesOf } from "./shared-record.ts";
import type { Run } from "../schema/run.ts";

/** Nothing is to be started or merged, and whoever has a turn waits for an answer. */
export function waitsForPerson(run: Run, now: number): boolean {
  const { spawnMain, spawn, merges } = schedule(run, { freeSlots: Number.POSITIVE_INFINITY }, now);
  if (spawnMain || spawn.length > 0 || merges.length > 0) return false;
  const waiting = new Set(valuesOf(run.inbox).map((item) => item.sessionId));
  return [...(run.main ? [run.main] : []), ...activeWorkers(run).map((worker) => worker.session)]
    .filter((session) => session.turn !== null || session.state === "spawning")
    .every((session) => waiting.has(session.sessionId));
}
