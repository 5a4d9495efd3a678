import { chainLengths } from "../../run/urgency.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import { isWorkerOver } from "../../schema/status.ts";

/** Returns the longest chain of unfinished tasks by `chainLengths`; more workers cannot shorten it. */
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

export function msPerTask(run: Run): number | null {
  const durations = Object.values(run.workers).flatMap(({ status, startedAt, completedAt }) =>
    status === "completed" && startedAt !== null && completedAt !== null ? [completedAt - startedAt] : [],
  );
  return durations.length === 0 ? null : durations.reduce((sum, ms) => sum + ms, 0) / durations.length;
}

function isOver(run: Run, id: string): boolean {
  const worker = run.workers[id];
  return worker !== undefined && isWorkerOver(worker.status);
}
