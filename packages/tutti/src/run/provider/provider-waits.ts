// The part of the fold that sets `refusedSince` of sessions and `heldSince` of the run.
import { workerOf } from "../lookup.ts";
import { openWork } from "../fold/open-work.ts";
import { hasRefusals, isToBeAsked, refusalOf, waitsForProvider } from "./provider.ts";
import { withSession } from "../fold/with-worker.ts";
import type { LogPosition, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Owed, SessionState } from "../../schema/worker.ts";

/**
 * Sets `refusedSince` of sessions that need a turn and cannot get one because their provider refuses, for example of
 * one that has just become ready. They wait like the sessions that the provider has refused itself.
 */
export function noteRefused(before: Run, run: Run, { data, timestamp }: RunEvent & LogPosition): Run {
  if (!hasRefusals(run)) return run;
  const waits = (session: SessionState, owed: Owed | null): boolean =>
    isToBeAsked(session, owed) && session.refusedSince === null && refusalOf(run, session.agent) !== null;
  const { main, owed } = run;
  const noted = main && waits(main, owed) ? { ...run, main: { ...main, refusedSince: timestamp } } : run;
  const touched = "taskId" in data && data.taskId ? [data.taskId] : [];
  const ids = new Set([...openWork(before).active.map(({ taskId }) => taskId), ...touched]);
  return [...ids].reduce((all, id) => {
    const worker = workerOf(all, id);
    const isWaiting = worker?.status === "running" && waits(worker.session, worker.owed);
    return isWaiting ? withSession(all, id, { refusedSince: timestamp }) : all;
  }, noted);
}

/** Sets `heldSince` while all sessions wait for a provider. That time counts against neither the phase nor the budget. */
export function noteHold(before: Run, run: Run, at: number): Run {
  const isHeld = waitsForProvider(run);
  if (isHeld === (run.heldSince !== undefined)) return run;
  if (isHeld) return { ...run, heldSince: at };
  const { heldSince = at, ...rest } = run;
  const held = at - heldSince;
  const isSamePhase = run.phaseSince !== null && run.phaseSince === before.phaseSince;
  return { ...rest, idleMs: run.idleMs + held, phaseSince: isSamePhase ? run.phaseSince! + held : run.phaseSince };
}
