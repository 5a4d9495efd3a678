// `workerState` is a worker in the form of document 004: the state folded from the log, with times as `Date`.
import { dateOrNull, pick } from "./orchestrator-state.ts";
import type { Run } from "../schema/run.ts";
import { workerSessionId } from "../schema/ids.ts";
import type { Task } from "../schema/task.ts";
import { NO_TOOLS, type Worker } from "../schema/worker.ts";

/** `MEMBERS` are the same in the log and in the document. */
const MEMBERS = [
  "sessionId",
  "orchestratorId",
  "taskId",
  "task",
  "status",
  "attempt",
  "progress",
  "toolStats",
  "output",
  "outputFiles",
  "outputPreview",
  "error",
  "retryCount",
] as const satisfies (keyof Worker)[];

export interface WorkerState extends Pick<Worker, (typeof MEMBERS)[number]> {
  currentAction: string;
  /** `lastActivityAt` of the log, because sessions that report by themselves are not polled. */
  lastPollAt: Date | null;
  startedAt: Date | null;
  completedAt: Date | null;
  pausedAt: Date | null;
}

export const workerState = (worker: Worker): WorkerState =>
  structuredClone({
    ...pick(worker, MEMBERS),
    currentAction: worker.currentAction ?? "",
    lastPollAt: dateOrNull(worker.lastActivityAt),
    startedAt: dateOrNull(worker.startedAt),
    completedAt: dateOrNull(worker.completedAt),
    pausedAt: dateOrNull(worker.session.pausedAt),
  });

/** The log has no worker for a task before its first attempt, but `workerSessionId` is known already. */
export function queuedWorker(run: Run, task: Task): WorkerState {
  return structuredClone({
    sessionId: workerSessionId(run.id, task.id, 1, run.template.config.sessionPrefix),
    orchestratorId: run.id,
    taskId: task.id,
    task,
    status: "pending" as const,
    attempt: 1,
    progress: 0,
    currentAction: "",
    toolStats: NO_TOOLS,
    output: null,
    outputFiles: [],
    outputPreview: null,
    error: null,
    retryCount: 0,
    lastPollAt: null,
    startedAt: null,
    completedAt: null,
    pausedAt: null,
  });
}

export type WorkerOutput = Pick<
  WorkerState,
  "taskId" | "status" | "output" | "outputFiles" | "error" | "toolStats" | "completedAt"
> & { taskTitle: string };

export const workerOutput = (worker: Worker): WorkerOutput => ({
  ...pick(workerState(worker), ["taskId", "status", "output", "outputFiles", "error", "toolStats", "completedAt"]),
  taskTitle: worker.task.title,
});
