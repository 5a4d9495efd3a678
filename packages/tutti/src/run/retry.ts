// Whether a task may be tried again, and when.
import { taskStanding } from "./census.ts";
import { taskOf, workerOf } from "./lookup.ts";
import { withdraw } from "./inbox.ts";
import { TuttiError } from "../schema/error.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import type { Worker } from "../schema/worker.ts";

/** Endings that would be the same the next time, or that put the task aside: another try needs a person. */
const NOT_BY_ITSELF: ReadonlySet<string> = new Set([
  "agent_not_startable",
  "agent_unknown",
  "dependencies_collide",
  "session_lost",
  "phase_over",
  "auth",
  "billing",
  "invalid_request",
  "refusal",
  "agent_budget",
  "denied",
]);
const ENDED: readonly string[] = ["failed", "timeout", "cancelled"];
/** Doubling stops here. */
const LONGEST_WAIT_MS = 3_600_000;

export const failureItem = (taskId: string) => (item: { kind: string; taskId: string | null }) =>
  item.kind === "failure" && item.taskId === taskId;

/** A person's word. A run that is over is opened again for it. */
export function retry(run: Run, taskId: string): RunEvent[] {
  const worker = workerOf(run, taskId);
  const over = isRunOver(run.status);
  const reopened: RunEvent[] = over
    ? [
        // What the run failed for is no longer asked.
        ...withdraw(run, ({ kind }) => kind === "data"),
        { type: "orchestrator:reopened", data: { id: run.id, phase: "workerExecution", status: "running" } },
      ]
    : [];
  // The run ended before the task's turn came; going on is all that it needs.
  const waiting = taskStanding(run, taskId) === "neverStarted";
  const planned = taskOf(run, taskId);
  if (!planned) throw new TuttiError("task_not_found", `run ${run.id} has no task ${taskId}`);
  if (!worker && !(over && waiting)) {
    const needs = run.blocked[taskId] ?? [];
    const why = needs.length > 0 ? `; it needs ${needs.join(", ")}: retry that first` : "";
    throw new TuttiError("wrong_state", `task ${taskId} of ${run.id} has not been started${why}`);
  }
  refuse(run, worker ?? null);
  if (!worker) return reopened;
  return [...reopened, ...withdraw(run, failureItem(taskId)), retrying(run, worker, false, null)];
}

function refuse(run: Run, worker: Worker | null): void {
  const { config } = run.template;
  const wrong = (message: string): never => {
    throw new TuttiError("wrong_state", message, {
      details: { status: worker?.status ?? "pending", retryCount: worker?.retryCount ?? 0 },
    });
  };
  // A session that was lost leaves its task pending; once the run is over nothing would start it by itself.
  const ended = isRunOver(run.status) ? [...ENDED, "pending"] : ENDED;
  if (worker && !ended.includes(worker.status)) wrong(`Cannot retry worker in status: ${worker.status}`);
  if (!config.retryOnError) wrong("Retrying is turned off by the template (retryOnError)");
  if (worker && worker.retryCount >= config.maxRetries) wrong(`Worker exceeded retry limit (${config.maxRetries})`);
  const doing = run.pausedFrom?.status ?? run.status;
  if (!["spawning", "running", "completed", "error"].includes(doing)) {
    wrong(`run ${run.id} is ${run.status}; a task can be retried while the tasks run, or when the run is over`);
  }
}

/** The retry that follows by itself, or null. */
export function automaticRetry(run: Run, worker: Worker, code: string, at: number): RunEvent | null {
  const { autoRetry, retryOnError, maxRetries, retryDelay } = run.template.config;
  if (!autoRetry || !retryOnError || worker.retryCount >= maxRetries || NOT_BY_ITSELF.has(code)) return null;
  const wait = Math.min(LONGEST_WAIT_MS, retryDelay * 2 ** worker.retryCount);
  return retrying(run, worker, true, at + wait);
}

function retrying(run: Run, worker: Worker, automatic: boolean, notBefore: number | null): RunEvent {
  const { sessionId, taskId, retryCount } = worker;
  return {
    type: "worker:retrying",
    data: { sessionId, orchestratorId: run.id, taskId, retryCount: retryCount + 1, automatic, notBefore },
  };
}
