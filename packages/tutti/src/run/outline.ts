// What follows from a plan alone and is asked again and again while it is carried out: who waits for whom, and in which
// order tasks start when several could. Made once per plan, because a list of tasks is replaced as a whole, never changed.
import { linksOf, type Links } from "./graph.ts";
import { mostUrgentFirst } from "./urgency.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";

/** Everything goes by the place of a task in the plan. */
export interface Outline extends Links {
  /** Its place in the order in which the tasks would start if all of them could. */
  ranks: readonly number[];
}

interface Made {
  outline: Outline;
  order: readonly string[] | null;
  workers: number;
}

const made = new WeakMap<readonly Task[], Made>();

export function outlineOf(run: Run): Outline {
  const { parallelExecution, maxWorkers } = run.template.config;
  // The agent's own order holds when tasks run one by one.
  const order = parallelExecution ? null : run.executionOrder;
  const workers = parallelExecution ? maxWorkers : 1;
  const known = made.get(run.tasks);
  if (known && known.order === order && known.workers === workers) return known.outline;
  const outline = { ...linksOf(run.tasks), ranks: ranksOf(run.tasks, order ?? mostUrgentFirst(run.tasks, workers)) };
  made.set(run.tasks, { outline, order, workers });
  return outline;
}

function ranksOf(tasks: readonly Task[], order: readonly string[]): number[] {
  const rankOf = new Map(order.map((id, rank) => [id, rank]));
  return tasks.map(({ id }) => rankOf.get(id) ?? 0);
}
