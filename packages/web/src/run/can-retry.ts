// Whether a task can be tried again at this moment, by the rules of the run.
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { RunStatus } from "../../../tutti/src/schema/status.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

const TASKS: readonly Worker["status"][] = ["failed", "timeout", "cancelled"];
/** While the tasks run, or when the run is over; not while the main session is busy with their results. */
const RUNS: readonly RunStatus[] = ["spawning", "running", "paused", "completed", "error"];

export function canRetry({ status, template: { config } }: Run, worker: Worker | undefined): boolean {
  if (!worker || !TASKS.includes(worker.status) || !RUNS.includes(status)) return false;
  return config.retryOnError && worker.retryCount < config.maxRetries;
}
