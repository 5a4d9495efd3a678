// Whether a task may be tried again, and when.
import { workerOf } from "./lookup.ts";
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
]);
/** Doubling stops here. */
const LONGEST_WAIT_MS = 3_600_000;

export const failureItem = (taskId: string) => (item: { kind: string; taskId: string | null }) =>
  item.kind === "failure" && item.taskId === taskId;

/** A person's word. A run that is over is opened again for it. */
export function retry(run: Run, taskId: string): RunEvent[] {
  const worker = workerOf(run, taskId);
  if (!worker) throw new TuttiError("task_not_found", `no task ${taskId} of ${run.id} has been started`);
  refuse(run, worker);
  const reopened: RunEvent[] = isRunOver(run.status)
    ? [{ type: "orchestrator:reopened", data: { id: run.id, phase: "workerExecution", status: "running" } }]
    : [];
  return [...reopened, ...withdraw(run, failureItem(taskId)), retrying(run, worker, false, null)];
}

function refuse(run: Run, worker: Worker): void {
  const { config } = run.template;
  const wrong = (message: string): never => {
    throw new TuttiError("wrong_state", message, { details: { status: worker.status, retryCount: worker.retryCount } });
  };
  if (!["failed", "timeout", "cancelled"].includes(worker.status))
    wrong(`Cannot retry worker in status: ${worker.status}`);
  if (!config.retryOnError) wrong("Retrying is turned off by the template (retryOnError)");
  if (worker.retryCount >= config.maxRetries) wrong(`Worker exceeded retry limit (${config.maxRetries})`);
  if (!["spawning", "running", "paused", "completed", "error"].includes(run.status)) {
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
