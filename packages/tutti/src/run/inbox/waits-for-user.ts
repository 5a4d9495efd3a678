import { activeWorkers } from "../lookup.ts";
import { refusedUntil } from "../provider/provider.ts";
import { schedule } from "../schedule.ts";
import { valuesOf } from "../fold/shared-record.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";

/**
 * Whether the template wants the default answer to an item if the user gives none. A permission has an `expiresAt`
 * without that, too, but only to free its agent.
 */
export const answersItself = (run: Run, { kind, expiresAt }: InboxItem): boolean =>
  expiresAt !== undefined && (kind === "limit" || run.template.config.answerTimeout !== undefined);

export function waitsForUser(run: Run, now: number): boolean {
  const { spawnMain, spawn, merges } = schedule(run, { freeSlots: Number.POSITIVE_INFINITY }, now);
  if (spawnMain || spawn.length > 0 || merges.length > 0) return false;
  // An item that `answersItself`, or a provider that answers again, continues the run.
  const items = valuesOf(run.inbox);
  if (items.some((item) => answersItself(run, item))) return false;
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
