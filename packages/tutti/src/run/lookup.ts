import { openWork } from "./fold/open-work.ts";
import { entryOf, valuesOf } from "./fold/shared-record.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import type { Worker } from "../schema/worker.ts";
import { TuttiError } from "../schema/error.ts";

export const noSuchTask = (run: Run, taskId: string): TuttiError =>
  new TuttiError(
    "task_not_found",
    `Run "${run.id}" has no task "${taskId}". Show its tasks with "tutti status ${run.id}".`,
  );

export const noSuchItem = (itemId: string): TuttiError =>
  new TuttiError("item_not_found", `Inbox item "${itemId}" does not exist. List open items with "tutti inbox".`);

/** One map per plan: `run.tasks` is replaced as a whole, never mutated, so `tasksById` needs no invalidation. */
const tasksById = new WeakMap<readonly Task[], Map<string, Task>>();

export function taskOf(run: Pick<Run, "tasks">, taskId: string): Task | undefined {
  let byId = tasksById.get(run.tasks);
  if (!byId) {
    byId = new Map(run.tasks.map((task) => [task.id, task]));
    tasksById.set(run.tasks, byId);
  }
  return byId.get(taskId);
}

/** Includes ended workers; see `activeWorkers`. */
export const workersOf = (run: Run): Worker[] => valuesOf(run.workers);

export const workerOf = (run: Run, taskId: string): Worker | undefined => entryOf(run.workers, taskId);

/** In the order of their first start. */
export const activeWorkers = (run: Run): readonly Worker[] => openWork(run).active;

/**
 * Workers of which the time runs: they wait for no user, provider (`refusedSince`), lead (`awaits`) or delegated task,
 * and are not paused.
 */
export function timedWorkers(run: Run): StartedWorker[] {
  const { active, questions } = openWork(run);
  const waiting = new Set(questions.map(({ sessionId }) => sessionId));
  return active.filter(
    (worker): worker is StartedWorker =>
      worker.status === "running" &&
      worker.startedAt !== null &&
      !waiting.has(worker.sessionId) &&
      worker.session.refusedSince === null &&
      !worker.awaits &&
      !worker.delegating,
  );
}

type StartedWorker = Worker & { startedAt: number };

/** Finds only the newest attempt at each task. */
export function workerOfSession(run: Run, sessionId: string): Worker | undefined {
  const taskId = entryOf(openWork(run).sessions, sessionId);
  return taskId === undefined ? undefined : workerOf(run, taskId);
}
