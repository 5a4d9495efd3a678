import { apply } from "../../run/apply.ts";
import { activeWorkers } from "../../run/lookup.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

interface RefusedTime {
  sessionId: string;
  startedAt: number;
  endedAt: number | null;
}

/** Folds a log, and returns each time in which a session waited for its provider (`refusedSince`), the oldest first. */
export function findRefusals(events: Iterable<StoredEvent>): RefusedTime[] {
  const found: RefusedTime[] = [];
  const open = new Map<string, RefusedTime>();
  let run: Run | null = null;
  for (const event of events) {
    run = apply(run, event);
    if (open.size === 0 && Object.keys(run.refusals).length === 0) continue;
    const waiting = new Map(
      [run.main, ...activeWorkers(run).map(({ session }) => session)].flatMap((session) =>
        session === null || session.refusedSince === null ? [] : [[session.sessionId, session.refusedSince]],
      ),
    );
    for (const [sessionId, time] of open)
      if (waiting.get(sessionId) !== time.startedAt) {
        time.endedAt = event.timestamp;
        open.delete(sessionId);
      }
    for (const [sessionId, startedAt] of waiting) {
      if (open.has(sessionId)) continue;
      const time = { sessionId, startedAt, endedAt: null };
      open.set(sessionId, time);
      found.push(time);
    }
  }
  return found;
}
