// What follows from a plan alone and is asked again and again while it is carried out: who waits for whom, and in which
// order tasks start when several could. Made once per plan, because a list of tasks is replaced as a whole, never changed.
import { mostUrgentFirst } from "./urgency.ts";
import type { Run } from "../schema/run.ts";
import type { Task } from "../schema/task.ts";

export interface Outline {
  /** The place of each task in the plan; everything else here goes by it. */
  places: ReadonlyMap<string, number>;
  /** How many other tasks each one needs. */
  needs: readonly number[];
  /** Which tasks need it. */
  dependents: readonly (readonly number[])[];
  /** Its place in the order in which tasks start, if all could. */
  ranks: readonly number[];
}

interface Made {
  outline: Outline;
  order: readonly string[] | null;
}

const made = new WeakMap<readonly Task[], Made>();

export function outlineOf(run: Run): Outline {
  // The agent's own order holds when tasks run one by one.
  const order = run.template.config.parallelExecution ? null : run.executionOrder;
  const known = made.get(run.tasks);
  if (known && known.order === order) return known.outline;
  const outline = { ...linksOf(run.tasks), ranks: ranksOf(run.tasks, order) };
  made.set(run.tasks, { outline, order });
  return outline;
}

function linksOf(tasks: readonly Task[]): Pick<Outline, "places" | "needs" | "dependents"> {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  const dependents: number[][] = tasks.map(() => []);
  const needs = tasks.map(({ dependencies }, place) => {
    const distinct = new Set(dependencies);
    // Of a plan that is not sound, what needs an unknown task never starts.
    for (const id of distinct) if (places.has(id)) dependents[places.get(id)!]!.push(place);
    return distinct.size;
  });
  return { places, needs, dependents };
}

function ranksOf(tasks: readonly Task[], order: readonly string[] | null): number[] {
  const rankOf = new Map((order ?? mostUrgentFirst(tasks)).map((id, rank) => [id, rank]));
  return tasks.map(({ id }) => rankOf.get(id) ?? 0);
}
