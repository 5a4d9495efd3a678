import type { RunSummary } from "../../engine/runs/finished-runs.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import { errorsOf, type Run } from "../../schema/run.ts";
import { documentStats, type Worker } from "../../schema/worker.ts";

type Times = Pick<Run, "createdAt" | "updatedAt" | "startedAt" | "completedAt">;

export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

const times = ({ createdAt, updatedAt, startedAt, completedAt }: Times) => ({
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
  startedAt: isoOrNull(startedAt),
  completedAt: isoOrNull(completedAt),
});

export function encodeSummary(summary: RunSummary) {
  const { inbox: _inbox, took: _took, released: _released, idempotency: _idempotency, heldSince, ...shown } = summary;
  return { ...shown, ...times(summary), ...(heldSince !== undefined && { heldSince: iso(heldSince) }) };
}

/**
 * `OrchestratorState` of document 004 plus the rest of the folded state. Three names differ from `Run`: `workers` is 004's
 * map from task to session, `workerStates` holds the workers by task, and `stats` holds 004's counts. Fields that only the
 * rules read (`owed`, `mainLosses`, `hooks`) are left out. `runSeq` is the last event in this state: a client that also
 * follows the live events drops the frames of the run up to it.
 */
export function encodeState(run: Run) {
  const { owed: _owed, mainLosses: _mainLosses, hooks: _hooks, main, workers, errors: _errors, ...others } = run;
  const { inbox: _inbox, toolStats, pausedFrom, ...rest } = others;
  const states = Object.values(workers);
  return {
    ...rest,
    ...times(run),
    _previousStatus: pausedFrom?.status ?? null,
    _previousPhase: pausedFrom?.phase ?? null,
    pausedFrom: pausedFrom && { ...pausedFrom, at: iso(pausedFrom.at) },
    main: main && encodeSession(main),
    workers: Object.fromEntries(states.map(({ taskId, sessionId }) => [taskId, sessionId])),
    workerStates: Object.fromEntries(states.map((worker) => [worker.taskId, encodeWorker(worker)])),
    stats: documentStats(toolStats),
    toolStats,
    errors: errorsOf(run).map((error) => ({ ...error, timestamp: iso(error.timestamp) })),
    inbox: Object.fromEntries(inboxOf(run).map((item) => [item.id, item])),
  };
}

function encodeSession({ sessionId, attempt, state, turns, turn }: Worker["session"]) {
  return { sessionId, attempt, state, turns, turn: turn && { ...turn, startedAt: iso(turn.startedAt) } };
}

/** `WorkerState` of document 004. Sessions push their progress, so `lastPollAt` equals `lastActivityAt`. */
export function encodeWorker(worker: Worker) {
  const { owed: _owed, losses: _losses, session, ...rest } = worker;
  return {
    ...rest,
    session: encodeSession(session),
    lastActivityAt: isoOrNull(worker.lastActivityAt),
    lastPollAt: isoOrNull(worker.lastActivityAt),
    startedAt: isoOrNull(worker.startedAt),
    completedAt: isoOrNull(worker.completedAt),
    pausedAt: isoOrNull(session.pausedAt),
  };
}

function inboxOf(run: Run) {
  return Object.values(run.inbox).map(encodeItem);
}

export function encodeItem({ createdAt, expiresAt, ...item }: InboxItem) {
  return { ...item, createdAt: iso(createdAt), ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }) };
}
