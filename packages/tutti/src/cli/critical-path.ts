// What a run still has to do one after the other, however many workers it has.
import { chainLengths } from "../run/urgency.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";
import { isWorkerOver } from "../schema/status.ts";

/** The longest chain of tasks that are not over, by what they are expected to take. */
export function criticalTasks(run: Run): Task[] {
  const open = run.tasks.filter(({ id }) => !run.skipped[id] && !run.blocked[id] && !isOver(run, id));
  const ids = new Set(open.map(({ id }) => id));
  const left = open.map((task) => ({ ...task, dependencies: task.dependencies.filter((id) => ids.has(id)) }));
  const lengths = chainLengths(left);
  const path: Task[] = [];
  const longest = (tasks: Task[]): Task | undefined =>
    tasks.toSorted((a, b) => lengths.get(b.id)! - lengths.get(a.id)!)[0];
  let next = longest(left.filter(({ dependencies }) => dependencies.length === 0));
  while (next !== undefined && path.length < left.length) {
    const { id } = next;
    path.push(next);
    next = longest(left.filter(({ dependencies }) => dependencies.includes(id)));
  }
  return path;
}

/** What its completed tasks took on average; null while none has completed. */
export function msPerTask(run: Run): number | null {
  const took = Object.values(run.workers).flatMap(({ status, startedAt, completedAt }) =>
    status === "completed" && startedAt !== null && completedAt !== null ? [completedAt - startedAt] : [],
  );
  return took.length === 0 ? null : took.reduce((sum, ms) => sum + ms, 0) / took.length;
}

function isOver(run: Run, id: string): boolean {
  const worker = run.workers[id];
  return worker !== undefined && isWorkerOver(worker.status);
}
