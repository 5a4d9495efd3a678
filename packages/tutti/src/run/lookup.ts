// Finding tasks, workers and sessions in a run.
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import type { SessionState, Worker } from "../schema/worker.ts";

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

export const workersOf = (run: Run): Worker[] => Object.values(run.workers);

export const workerOf = (run: Run, taskId: string): Worker | undefined =>
  Object.hasOwn(run.workers, taskId) ? run.workers[taskId] : undefined;

export function workerOfSession(run: Run, sessionId: string): Worker | undefined {
  return workersOf(run).find((worker) => worker.sessionId === sessionId);
}

/** The part of the state that belongs to a session, if it is still the one that counts. */
export function sessionOf(run: Run, sessionId: string): SessionState | undefined {
  if (run.main?.sessionId === sessionId) return run.main;
  return workerOfSession(run, sessionId)?.session;
}
