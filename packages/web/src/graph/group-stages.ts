// A plan of many tasks has no readable size as a whole, so `groupStages` makes each stage one node until the user opens
// it.
import type { GraphShape } from "./layout.ts";

interface PlanStage {
  /** Counts from 1. */
  number: number;
  tasks: readonly string[];
}

export interface GroupedPlan {
  shapes: GraphShape[];
  /** By the `nodeId` of each closed stage. */
  closed: ReadonlyMap<string, PlanStage>;
}

/** A space keeps a `nodeId` apart from the ids of tasks, which contain none. */
const nodeId = (number: number): string => `stage ${number}`;

/** Replaces the tasks of every stage that is not in `open` by one shape. Without `stages` all tasks stay. */
export function groupStages(
  tasks: readonly GraphShape[],
  stages: readonly (readonly string[])[],
  open: ReadonlySet<number>,
): GroupedPlan {
  const closed = new Map<string, PlanStage>();
  const nodeOf = new Map<string, string>();
  for (const [index, ids] of stages.entries()) {
    const number = index + 1;
    if (open.has(number) || ids.length < 2) continue;
    closed.set(nodeId(number), { number, tasks: ids });
    for (const id of ids) nodeOf.set(id, nodeId(number));
  }
  const shapes = new Map<string, Set<string>>();
  for (const { id, dependencies } of tasks) {
    const node = nodeOf.get(id) ?? id;
    const needed = shapes.get(node) ?? new Set();
    for (const each of dependencies) needed.add(nodeOf.get(each) ?? each);
    needed.delete(node);
    shapes.set(node, needed);
  }
  return { shapes: [...shapes].map(([id, needed]) => ({ id, dependencies: [...needed] })), closed };
}

/** The numbers count from 1, as in `PlanStage`. */
export const stagesOf = (stages: readonly (readonly string[])[], ids: ReadonlySet<string>): number[] =>
  stages.flatMap((stage, index) => (stage.some((id) => ids.has(id)) ? [index + 1] : []));
