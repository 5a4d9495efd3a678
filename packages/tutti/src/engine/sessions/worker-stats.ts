import { workersOf } from "../../run/lookup.ts";
import type { Run } from "../../schema/run.ts";
import { addTools, NO_TOOLS, type ToolStats, type Worker } from "../../schema/worker.ts";
import type { WorkerStatus } from "../../schema/status.ts";

/**
 * `AggregatedStats` of document 004. `quiet` lists sessions without activity for the template's
 * `progressDetectionInterval`.
 */
export interface AggregatedStats {
  totalWorkers: number;
  completed: number;
  failed: number;
  running: number;
  pending: number;
  paused: number;
  cancelled: number;
  timeout: number;
  totalProgress: number;
  toolStats: ToolStats;
  averageProgress: number;
  totalRetries: number;
  quiet: string[];
}

/** Counts the newest attempt of each task. A `spawning` worker counts as running. */
export function aggregateStats(run: Run, now: number): AggregatedStats {
  const workers = workersOf(run);
  const count = (...statuses: WorkerStatus[]) => workers.filter(({ status }) => statuses.includes(status)).length;
  const sum = (of: (worker: Worker) => number) => workers.reduce((total, worker) => total + of(worker), 0);
  const totalWorkers = workers.length;
  const totalProgress = sum(({ progress }) => progress);
  return {
    totalWorkers,
    completed: count("completed"),
    failed: count("failed"),
    running: count("spawning", "running"),
    pending: count("pending"),
    paused: count("paused"),
    cancelled: count("cancelled"),
    timeout: count("timeout"),
    totalProgress,
    toolStats: workers.map(({ toolStats }) => toolStats).reduce(addTools, NO_TOOLS),
    averageProgress: totalWorkers === 0 ? 0 : Math.round(totalProgress / totalWorkers),
    totalRetries: sum(({ retryCount }) => retryCount),
    quiet: workers.filter((worker) => isQuiet(run, worker, now)).map(({ sessionId }) => sessionId),
  };
}

/** A worker that waits for the user's answer (`hasQuestion`) is not quiet. */
function isQuiet({ template, inbox }: Run, { status, sessionId, lastActivityAt }: Worker, now: number): boolean {
  const hasQuestion = Object.values(inbox).some((item) => item.sessionId === sessionId);
  if (status !== "running" || hasQuestion || lastActivityAt === null) return false;
  return now - lastActivityAt >= template.config.progressDetectionInterval;
}
