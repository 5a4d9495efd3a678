// `outlineOf` computes the dependencies and the start order of a plan once. The cache works because `run.tasks` is
// replaced as a whole, never mutated.
import { linksOf, type Links } from "./graph.ts";
import { mostUrgentFirst } from "../urgency.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";

/** The lists are indexed by the position of a task in `run.tasks`. */
export interface Outline extends Links {
  ranks: readonly number[];
  hasDelegatedTasks: boolean;
}

interface CachedOutline {
  outline: Outline;
  order: readonly string[] | null;
  workers: number;
}

const cache = new WeakMap<readonly Task[], CachedOutline>();

export function outlineOf(run: Run): Outline {
  const { parallelExecution, maxWorkers } = run.template.config;
  // The agent's `executionOrder` applies only if tasks run one at a time.
  const order = parallelExecution ? null : run.executionOrder;
  const workers = parallelExecution ? maxWorkers : 1;
  const known = cache.get(run.tasks);
  if (known && known.order === order && known.workers === workers) return known.outline;
  const outline = {
    ...linksOf(run.tasks),
    ranks: ranksOf(run.tasks, order ?? mostUrgentFirst(run.tasks, workers)),
    hasDelegatedTasks: run.tasks.some(({ delegation }) => delegation !== undefined),
  };
  cache.set(run.tasks, { outline, order, workers });
  return outline;
}

function ranksOf(tasks: readonly Task[], order: readonly string[]): number[] {
  const rankOf = new Map(order.map((id, rank) => [id, rank]));
  return tasks.map(({ id }) => rankOf.get(id) ?? 0);
}
