import { taskStanding } from "../census.ts";
import { noSuchTask, taskOf, workerOf } from "../lookup.ts";
import { isOfMain, withdraw } from "../inbox/inbox.ts";
import { resumed, stillAsks } from "../lifecycle.ts";
import { needsUser } from "../provider/provider.ts";
import { valuesOf } from "../fold/shared-record.ts";
import { isDelegated } from "../team/delegation.ts";
import { isGated, mustPassGate } from "../team/gate.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { isRunOver } from "../../schema/status.ts";
import type { Worker } from "../../schema/worker.ts";

/** Another session would meet an error of `NEEDS_USER` again. The user can still retry. */
export const NEEDS_USER: ReadonlySet<string> = new Set([
  "agent_not_startable",
  "setup_failed",
  "agent_unknown",
  "request_forged",
  "auth",
  "billing",
  "invalid_request",
  "refusal",
  "agent_budget",
  "denied",
]);
/** Errors of `NOT_BY_ITSELF` are not retried automatically either. */
const NOT_BY_ITSELF: ReadonlySet<string> = new Set([
  "session_lost",
  "phase_over",
  "gate_closed",
  "rejected",
  "check_failed",
  "conflict",
]);
const ENDED: readonly string[] = ["failed", "timeout", "cancelled"];
/** `LONGEST_WAIT_MS` is the upper bound for the doubled `retryDelay`. */
const LONGEST_WAIT_MS = 3_600_000;

/** Do not change these texts: open items of older logs hold them, and `answerFailure` compares with them. */
export const FAILURE_OPTIONS = [sentence("try it again"), sentence("leave it")];

const failureItem = (taskId: string) => (item: { kind: string; taskId: string | null }) =>
  item.kind === "failure" && item.taskId === taskId;

export function retry(run: Run, taskId: string, at: number): RunEvent[] {
  const worker = workerOf(run, taskId);
  const over = isRunOver(run.status);
  const reopened: RunEvent[] = over
    ? [
        // The retry replaces the phase that failed, and the data that it asked for.
        ...withdraw(run, isOfMain),
        { type: "orchestrator:reopened", data: { id: run.id, phase: "workerExecution", status: "running" } },
      ]
    : [];
  // `neverStarted`: the run ended before the task started, and reopening the run is enough to start it.
  const waiting = taskStanding(run, taskId) === "neverStarted";
  const planned = taskOf(run, taskId);
  if (!planned) throw noSuchTask(run, taskId);
  mustPassGate(run, planned, at);
  // The session with `pausedBy: "run"` is kept. It gets the same prompt again when the run is resumed.
  if (worker?.pausedBy === "run" && waitsForAccess(run))
    return [...withdraw(run, ({ kind }) => kind === "limit"), ...resumed(run)];
  if (!worker && isGated(run, planned) && taskStanding(run, taskId) === "blocked") {
    const refusal = whyNotNow(run);
    if (refusal !== null) throw new TuttiError("wrong_state", refusal);
    return [
      ...reopened,
      ...withdraw(run, (item) => item.kind === "gate" && item.taskId === taskId),
      { type: "task:unblocked", data: { id: run.id, taskId } },
    ];
  }
  if (!worker && !(over && waiting)) {
    const needs = run.blocked[taskId] ?? [];
    const advice =
      needs.length > 0 ? `It depends on ${needs.join(", ")}: retry that first.` : "Retry it after it failed.";
    throw new TuttiError("wrong_state", `Task "${taskId}" of run "${run.id}" has not started yet. ${advice}`);
  }
  const refusal = whyNotRetried(run, worker);
  if (refusal !== null) {
    const details = { status: worker?.status ?? "pending", retryCount: worker?.retryCount ?? 0 };
    throw new TuttiError("wrong_state", refusal, { details });
  }
  if (!worker) return reopened;
  const again = retryByUser(run, worker);
  return waitsForAccess(run) && wasRefused(worker) ? [...again, ...resumed(run)] : [...reopened, ...again];
}

/** Whether the run is paused for its provider alone, so that a retry also resumes it. */
function waitsForAccess(run: Run): boolean {
  if (run.pausedFrom?.reason !== "provider" && run.pausedFrom?.reason !== "usage_limit") return false;
  const limits = valuesOf(run.inbox).filter(({ kind }) => kind === "limit");
  return !stillAsks(run, new Set(limits.map(({ id }) => id)));
}

const wasRefused = ({ status, errorCode }: Worker): boolean => status === "failed" && needsUser(errorCode);

/** Tasks without a `failure` item stay as they are: the user left them so. */
export function retriesOfRefused(run: Run): RunEvent[] {
  return valuesOf(run.inbox).flatMap(({ kind, taskId }) => {
    const worker = kind === "failure" && taskId !== null ? workerOf(run, taskId) : undefined;
    if (!worker || !wasRefused(worker)) return [];
    return retryByUser(run, worker);
  });
}

const retryByUser = (run: Run, worker: Worker): RunEvent[] => [
  ...withdraw(run, failureItem(worker.taskId)),
  retrying(run, worker, false, null),
];

/** False for a task without any attempt, although `retry` may reopen the run for it. */
export function canRetry(run: Run, taskId: string): boolean {
  const worker = workerOf(run, taskId);
  return worker !== undefined && whyNotRetried(run, worker) === null;
}

function whyNotRetried(run: Run, worker: Worker | undefined): string | null {
  const { config } = run.template;
  // A lost session leaves its task `pending`. In an ended run only a retry can start it.
  const ended = isRunOver(run.status) ? [...ENDED, "pending"] : ENDED;
  if (worker && !ended.includes(worker.status)) return `Cannot retry worker in status: ${worker.status}`;
  const isLimited = !worker || !wasRefused(worker);
  if (isLimited && !config.retryOnError)
    return "The template does not allow retries. Set retryOnError to true in a new run.";
  if (worker && isLimited && worker.retryCount >= config.maxRetries)
    return `Worker exceeded retry limit (${config.maxRetries})`;
  return whyNotNow(run);
}

function whyNotNow(run: Run): string | null {
  const doing = run.pausedFrom?.status ?? run.status;
  return ["spawning", "running", "completed", "error"].includes(doing)
    ? null
    : `Run "${run.id}" is ${run.status}. Retry a task while the run executes its tasks, or after it ended.`;
}

/** Returns null if `autoRetry` is off, `maxRetries` is reached or the code is in `NEEDS_USER` or `NOT_BY_ITSELF`. */
export function automaticRetry(run: Run, worker: Worker, code: string, at: number): RunEvent | null {
  const { autoRetry, retryOnError, maxRetries, retryDelay } = run.template.config;
  // If the task `isDelegated`, its parent decides about a failure that the task reports itself.
  const isForParent = code === "reported_failure" && isDelegated(run, worker.task);
  const isFinal = NEEDS_USER.has(code) || NOT_BY_ITSELF.has(code) || isForParent;
  if (!autoRetry || !retryOnError || worker.retryCount >= maxRetries || isFinal) return null;
  const wait = Math.min(LONGEST_WAIT_MS, retryDelay * 2 ** worker.retryCount);
  return retrying(run, worker, true, at + wait);
}

function retrying(run: Run, worker: Worker, automatic: boolean, notBefore: number | null): RunEvent {
  const { sessionId, taskId } = worker;
  // An attempt that `wasRefused` has done nothing, so it does not count towards `maxRetries`.
  const retryCount = worker.retryCount + (wasRefused(worker) ? 0 : 1);
  return {
    type: "worker:retrying",
    data: { sessionId, orchestratorId: run.id, taskId, retryCount, automatic, notBefore },
  };
}
