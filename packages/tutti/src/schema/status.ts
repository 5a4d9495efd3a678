export const ORCHESTRATOR_STATUS = {
  CREATED: "created",
  ANALYZING: "analyzing",
  PLANNING: "planning",
  CONFIRMING: "confirming",
  SPAWNING: "spawning",
  RUNNING: "running",
  AGGREGATING: "aggregating",
  VERIFYING: "verifying",
  COMPLETED: "completed",
  ERROR: "error",
  CANCELLED: "cancelled",
  PAUSED: "paused",
} as const;
export type RunStatus = (typeof ORCHESTRATOR_STATUS)[keyof typeof ORCHESTRATOR_STATUS];
export const RUN_STATUSES = Object.values(ORCHESTRATOR_STATUS);

export const ORCHESTRATOR_PHASE = {
  ANALYSIS: "analysis",
  TASK_PLANNING: "taskPlanning",
  WORKER_EXECUTION: "workerExecution",
  AGGREGATION: "aggregation",
  VERIFICATION: "verification",
} as const;
export type Phase = (typeof ORCHESTRATOR_PHASE)[keyof typeof ORCHESTRATOR_PHASE];
export const PHASES = Object.values(ORCHESTRATOR_PHASE);

export const WORKER_STATUS = {
  PENDING: "pending",
  SPAWNING: "spawning",
  RUNNING: "running",
  PAUSED: "paused",
  COMPLETED: "completed",
  FAILED: "failed",
  TIMEOUT: "timeout",
  CANCELLED: "cancelled",
} as const;
export type WorkerStatus = (typeof WORKER_STATUS)[keyof typeof WORKER_STATUS];

export const SUBSESSION_STATUS = {
  ACTIVE: "active",
  COMPLETING: "completing",
  COMPLETED: "completed",
  RETURNED: "returned",
  ORPHANED: "orphaned",
  ERROR: "error",
} as const;
export type SubSessionStatus = (typeof SUBSESSION_STATUS)[keyof typeof SUBSESSION_STATUS];

export const SUBAGENT_ENDS = ["completed", "failed", "cancelled"] as const;
export type SubagentEnd = (typeof SUBAGENT_ENDS)[number];

export const isRunOver = (status: RunStatus): boolean =>
  status === "completed" || status === "error" || status === "cancelled";

export const isWorkerOver = (status: WorkerStatus): boolean =>
  status === "completed" || status === "failed" || status === "timeout" || status === "cancelled";

/** Maps a `Phase` to the phase name in the block that answers it (document 000). */
export const ANSWER_PHASE = {
  analysis: "analysis",
  taskPlanning: "task_list",
  workerExecution: "completion",
  aggregation: "aggregation",
  verification: "verification",
} as const satisfies Record<Phase, string>;
export type AnswerPhase = (typeof ANSWER_PHASE)[Phase];
