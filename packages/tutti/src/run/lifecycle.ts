import { refused } from "./plan/confirm.ts";
import { isOfMain, withdraw, withdrawQuestions } from "./inbox/inbox.ts";
import { activeWorkers, workerOfSession } from "./lookup.ts";
import { valuesOf } from "./fold/shared-record.ts";
import { PAUSABLE } from "./transitions.ts";
import { TuttiError } from "../schema/error.ts";
import type { PauseReason, RunEvent } from "../schema/event.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver, type Phase, type RunStatus } from "../schema/status.ts";
import type { Worker } from "../schema/worker.ts";

export function pause(run: Run, reason: PauseReason, detail: string, output?: string): RunEvent[] {
  if (!PAUSABLE.has(run.status)) throw refused(run, "paused", `it is ${run.status}, not in progress`);
  const why = { reason, detail, ...(output === undefined ? {} : { output }) };
  const data = { id: run.id, previousStatus: run.status, previousPhase: run.currentPhase, ...why };
  return [{ type: "orchestrator:paused", data }];
}

/** The phases of the main session, with the status of a run in each of them. */
export const STATUS_OF: Record<Exclude<Phase, "workerExecution">, RunStatus> = {
  analysis: "analyzing",
  taskPlanning: "planning",
  aggregation: "aggregating",
  verification: "verifying",
};

/** Returns null unless the run ended with an error in a phase of `STATUS_OF`. */
export function failedPhase({ status, currentPhase }: Run): keyof typeof STATUS_OF | null {
  return status === "error" && currentPhase !== null && currentPhase !== "workerExecution" ? currentPhase : null;
}

/** Whether a phase of the main session did not complete and can be attempted again. */
export function canResumeMain(run: Run): boolean {
  const isOpen = (item: InboxItem): boolean => isOfMain(item) || (item.kind === "limit" && run.owed !== null);
  return failedPhase(run) !== null || (run.status === "paused" && valuesOf(run.inbox).some(isOpen));
}

const KEEP_PAUSED: ReadonlySet<InboxItem["kind"]> = new Set(["budget", "decision", "limit"]);

/** Whether items other than the `answered` ones keep the run paused. */
export const stillAsks = (run: Run, answered: ReadonlySet<string>): boolean =>
  valuesOf(run.inbox).some(({ id, kind }) => KEEP_PAUSED.has(kind) && !answered.has(id));

/** Workers that the user paused (`pausedBy` not "run") stay paused. */
export function resumed(run: Run, automatic = false): RunEvent[] {
  const { pausedFrom } = run;
  if (!pausedFrom) return [];
  const workers = activeWorkers(run).filter((worker) => worker.status === "paused" && worker.pausedBy === "run");
  return [
    {
      type: "orchestrator:resumed",
      data: { id: run.id, status: pausedFrom.status, phase: pausedFrom.phase, ...(automatic ? { automatic } : {}) },
    },
    ...workers.map((worker): RunEvent => ({ type: "worker:resumed", data: about(run, worker) })),
  ];
}

export function cancel(run: Run): RunEvent[] {
  if (isRunOver(run.status)) throw refused(run, "cancelled", `it is ${run.status}`);
  return [
    ...stopWorkers(run),
    ...withdraw(run, () => true),
    { type: "orchestrator:cancelled", data: { id: run.id, phase: run.currentPhase } },
  ];
}

export function stopWorkers(run: Run): RunEvent[] {
  return activeWorkers(run).map((worker) => ({ type: "worker:cancelled", data: about(run, worker) }));
}

export function pauseWorker(run: Run, sessionId: string): RunEvent[] {
  const worker = activeWorker(run, sessionId);
  if (worker.status !== "running") throw wrongWorker(worker, "paused");
  return [{ type: "worker:paused", data: { ...about(run, worker), by: "person" } }];
}

export function resumeWorker(run: Run, sessionId: string): RunEvent[] {
  const worker = activeWorker(run, sessionId);
  const isPausedWithoutSession = worker.status === "pending" && worker.pausedBy !== null;
  if (worker.status !== "paused" && !isPausedWithoutSession) throw wrongWorker(worker, "resumed");
  if (run.status === "paused") {
    throw refused(run, "resumed in part", "the whole run is paused", "Resume the run instead of the worker.");
  }
  return [{ type: "worker:resumed", data: about(run, worker) }];
}

export function cancelWorker(run: Run, sessionId: string): RunEvent[] {
  const worker = activeWorker(run, sessionId);
  if (isWorkerOver(worker.status) || worker.status === "pending") throw wrongWorker(worker, "cancelled");
  return [...withdrawQuestions(run, sessionId), { type: "worker:cancelled", data: about(run, worker) }];
}

function activeWorker(run: Run, sessionId: string): Worker {
  const worker = workerOfSession(run, sessionId);
  if (!worker) {
    const message = `Run "${run.id}" has no worker "${sessionId}". Show its workers with "tutti status ${run.id}".`;
    throw new TuttiError("worker_not_found", message);
  }
  if (isRunOver(run.status)) throw refused(run, "steered", `it is ${run.status}`);
  return worker;
}

const wrongWorker = ({ sessionId, status }: Worker, verb: string): TuttiError =>
  new TuttiError("wrong_state", `Worker "${sessionId}" cannot be ${verb}: it is ${status}. Choose another one.`, {
    details: { status },
  });

const about = (run: Run, { sessionId, taskId }: Worker) => ({ sessionId, orchestratorId: run.id, taskId });
