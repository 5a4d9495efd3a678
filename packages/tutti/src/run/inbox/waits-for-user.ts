import { activeWorkers } from "../lookup.ts";
import { refusedUntil } from "../provider/provider.ts";
import { schedule } from "../schedule.ts";
import { valuesOf } from "../fold/shared-record.ts";
import type { Run } from "../../schema/run.ts";

export function waitsForPerson(run: Run, now: number): boolean {
  const { spawnMain, spawn, merges } = schedule(run, { freeSlots: Number.POSITIVE_INFINITY }, now);
  if (spawnMain || spawn.length > 0 || merges.length > 0) return false;
  // The run continues by itself when its files can be written again, a usage limit ends or its provider answers again.
  if (run.pausedFrom?.reason === "storage") return false;
  const items = valuesOf(run.inbox);
  if (items.some(({ kind, expiresAt }) => kind === "limit" && expiresAt !== undefined)) return false;
  const sessions = [...(run.main ? [run.main] : []), ...activeWorkers(run).map((worker) => worker.session)];
  const waitsForProvider = sessions.some(({ refusedSince, pausedAt, state }) => {
    return refusedSince !== null && pausedAt === null && state === "running";
  });
  if (run.status !== "paused" && (waitsForProvider || refusedUntil(run, now) !== null)) return false;
  const waiting = new Set(items.map((item) => item.sessionId));
  return sessions
    .filter((session) => session.turn !== null || session.state === "spawning")
    .every((session) => waiting.has(session.sessionId));
}
