// The allowed changes of status. `decide` checks every step against `RUN_MOVES` and `WORKER_MOVES`, and
// docs/lifecycle.md is generated from them.
import type { RunStatus, WorkerStatus } from "../schema/status.ts";

const ENDS = ["error", "cancelled"] as const;
const ACTIVE = ["analyzing", "planning", "confirming", "spawning", "running", "aggregating", "verifying"] as const;

export const RUN_MOVES: Record<RunStatus, readonly RunStatus[]> = {
  created: ["analyzing", "planning", ...ENDS],
  analyzing: ["planning", "completed", "paused", ...ENDS],
  // To `running` and later phases in a continuous run, which plans more than once.
  planning: ["confirming", "running", "aggregating", "verifying", "completed", "paused", ...ENDS],
  // To `planning` if the user requests another plan.
  confirming: ["spawning", "planning", "completed", "paused", ...ENDS],
  spawning: ["running", "planning", "aggregating", "verifying", "completed", "paused", ...ENDS],
  running: ["planning", "aggregating", "verifying", "completed", "paused", ...ENDS],
  aggregating: ["verifying", "completed", "paused", ...ENDS],
  verifying: ["completed", "paused", ...ENDS],
  // Only by a retry of a task.
  completed: ["running"],
  // By a retry of a task or of a phase, or by supplied data.
  error: ["analyzing", "planning", "running", "aggregating", "verifying"],
  cancelled: [],
  // To an end if a session finishes the last turn while the run is paused.
  paused: [...ACTIVE, "completed", ...ENDS],
};

export const WORKER_MOVES: Record<WorkerStatus, readonly WorkerStatus[]> = {
  pending: ["spawning"],
  // To `pending` if the session is lost; to `completed` if an earlier result is reused.
  spawning: ["running", "pending", "completed", "failed", "timeout", "cancelled"],
  running: ["paused", "pending", "completed", "failed", "timeout", "cancelled"],
  paused: ["running", "pending", "completed", "failed", "timeout", "cancelled"],
  // If the commands for merges fail with its work.
  completed: ["pending", "failed"],
  failed: ["pending"],
  timeout: ["pending"],
  cancelled: ["pending"],
};

export const PAUSABLE: ReadonlySet<RunStatus> = new Set(ACTIVE);
