// `mostUrgentFirst` is the start order of ready tasks: by priority, then by the work that depends on them, then by
// position in the plan.
import { lookAhead } from "./plan/look-ahead.ts";
import type { Task } from "../schema/task.ts";

export function mostUrgentFirst(tasks: readonly Task[], workers: number): string[] {
  const lengths = chainLengths(tasks);
  const weights = taskWeights(tasks);
  const order = lookAhead(
    tasks,
    tasks.map(({ id }) => weights.get(id)!),
    tasks.map(({ id }) => lengths.get(id)!),
    workers,
  );
  return order.map((place) => tasks[place]!.id);
}

/** Expected durations. They are only relative, unless `expectedMs` is known for a task: then the unit is milliseconds. */
export function taskWeights(tasks: readonly Task[]): Map<string, number> {
  const known = tasks.flatMap(({ expectedMs }) => (expectedMs === undefined ? [] : [expectedMs]));
  const estimated = tasks.flatMap(({ estimatedTokens }) => (estimatedTokens === undefined ? [] : [estimatedTokens]));
  const usualMs = average(known) ?? 1;
  const usualTokens = average(estimated) ?? 1;
  // Scale `estimatedTokens` to the average of the known durations.
  const weigh = ({ expectedMs, estimatedTokens }: Task): number =>
    expectedMs ?? (estimatedTokens === undefined ? usualMs : (estimatedTokens / (usualTokens || 1)) * usualMs);
  return new Map(tasks.map((task) => [task.id, Math.max(weigh(task), Number.EPSILON)]));
}

function average(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns for each task its own weight plus that of its heaviest chain of dependents. */
export function chainLengths(tasks: readonly Task[]): Map<string, number> {
  const weights = taskWeights(tasks);
  const lengths = new Map<string, number>();
  const dependents = new Map<string, string[]>(tasks.map(({ id }) => [id, []]));
  const open = new Map<string, number>();
  for (const { id, dependencies } of tasks) for (const needed of dependencies) dependents.get(needed)?.push(id);
  for (const [id, list] of dependents) open.set(id, list.length);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const ends = tasks.filter(({ id }) => open.get(id) === 0).map(({ id }) => id);
  for (let id = ends.pop(); id !== undefined; id = ends.pop()) {
    const behind = dependents.get(id)!.reduce((longest, next) => Math.max(longest, lengths.get(next) ?? 0), 0);
    lengths.set(id, weights.get(id)! + behind);
    for (const needed of byId.get(id)!.dependencies) {
      const left = (open.get(needed) ?? 0) - 1;
      open.set(needed, left);
      if (left === 0) ends.push(needed);
    }
  }
  // Tasks in a cycle never start, but callers expect a length for every task.
  for (const { id } of tasks) if (!lengths.has(id)) lengths.set(id, weights.get(id)!);
  return lengths;
}
