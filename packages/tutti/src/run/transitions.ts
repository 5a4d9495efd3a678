// Which state may follow which, as data: the rules are held to it in every step, and docs/lifecycle.md is drawn from it.
import type { RunStatus, WorkerStatus } from "../schema/status.ts";

const ENDS = ["error", "cancelled"] as const;
const ACTIVE = ["analyzing", "planning", "confirming", "spawning", "running", "aggregating", "verifying"] as const;

export const RUN_MOVES: Record<RunStatus, readonly RunStatus[]> = {
  created: ["analyzing", "planning", ...ENDS],
  analyzing: ["planning", "completed", "paused", ...ENDS],
  planning: ["confirming", "completed", "paused", ...ENDS],
  // Back to planning when the person asks for another plan.
  confirming: ["spawning", "planning", "completed", "paused", ...ENDS],
  spawning: ["running", "aggregating", "verifying", "completed", "paused", ...ENDS],
  running: ["aggregating", "verifying", "completed", "paused", ...ENDS],
  aggregating: ["verifying", "completed", "paused", ...ENDS],
  verifying: ["completed", "paused", ...ENDS],
  // Only by the retry of a task.
  completed: ["running"],
  // By the retry of a task, or by data that a person supplied.
  error: ["analyzing", "planning", "running", "aggregating", "verifying"],
  cancelled: [],
  // A session may finish its turn while the run is paused, and that may be the last one.
  paused: [...ACTIVE, "completed", ...ENDS],
};

export const WORKER_MOVES: Record<WorkerStatus, readonly WorkerStatus[]> = {
  pending: ["spawning"],
  // Back to pending when the session vanishes for no fault of the task; complete at once when its result is known.
  spawning: ["running", "pending", "completed", "failed", "timeout", "cancelled"],
  running: ["paused", "pending", "completed", "failed", "timeout", "cancelled"],
  paused: ["running", "pending", "completed", "failed", "timeout", "cancelled"],
  completed: [],
  failed: ["pending"],
  timeout: ["pending"],
  cancelled: ["pending"],
};

/** What can be paused, and what a cancelled run was not. */
export const PAUSABLE: ReadonlySet<RunStatus> = new Set(ACTIVE);
