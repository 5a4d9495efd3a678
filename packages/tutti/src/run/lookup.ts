// Finding tasks, workers and sessions in a run.
import { openWork } from "./open-work.ts";
import { entryOf, valuesOf } from "./shared-record.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import type { Worker } from "../schema/worker.ts";

/** One map per plan: the list of tasks is replaced as a whole, never changed. */
const tasksById = new WeakMap<readonly Task[], Map<string, Task>>();

export function taskOf(run: Run, taskId: string): Task | undefined {
  let byId = tasksById.get(run.tasks);
  if (!byId) {
    byId = new Map(run.tasks.map((task) => [task.id, task]));
    tasksById.set(run.tasks, byId);
  }
  return byId.get(taskId);
}

/** Of every task that was ever started; for those at work see `activeWorkers`. */
export const workersOf = (run: Run): Worker[] => valuesOf(run.workers);

export const workerOf = (run: Run, taskId: string): Worker | undefined => entryOf(run.workers, taskId);

/** Workers with a session that is not over, in the order in which their tasks were first started. */
export const activeWorkers = (run: Run): readonly Worker[] => openWork(run).active;

/** The worker whose newest attempt has this session. */
export function workerOfSession(run: Run, sessionId: string): Worker | undefined {
  const taskId = entryOf(openWork(run).sessions, sessionId);
  return taskId === undefined ? undefined : workerOf(run, taskId);
}
