// Mirrors the server's rules for a retry, so that the page offers none that would be rejected.
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { RunStatus } from "../../../tutti/src/schema/status.ts";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

const WORKER_STATUSES: readonly Worker["status"][] = ["failed", "timeout", "cancelled"];
/** Excludes the statuses in which the main session merges or verifies the results. */
const RUN_STATUSES: readonly RunStatus[] = ["spawning", "running", "paused", "completed", "error"];

export function canRetry({ status, template: { config } }: Run, worker: Worker | undefined): boolean {
  if (!worker || !WORKER_STATUSES.includes(worker.status) || !RUN_STATUSES.includes(status)) return false;
  return config.retryOnError && worker.retryCount < config.maxRetries;
}
