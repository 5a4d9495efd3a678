// What the person changes in a plan before it is carried out.
import type { ChangedPlan } from "../../../tutti/src/schema/plan-changes.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

export interface TaskEdit {
  skip?: boolean;
  /** Whether what depends on it may start all the same. */
  satisfied?: boolean;
  priority?: number;
}

export type PlanEdits = Readonly<Record<string, TaskEdit>>;

export const editOf = (edits: PlanEdits, taskId: string): TaskEdit =>
  Object.hasOwn(edits, taskId) ? edits[taskId]! : {};

/** Those that need the task and are to be carried out themselves. */
export const dependentsOf = (tasks: readonly Task[], edits: PlanEdits, taskId: string): string[] =>
  tasks.filter(({ id, dependencies }) => dependencies.includes(taskId) && !editOf(edits, id).skip).map(({ id }) => id);

/** Only what is different from the plan. */
export function modifications(tasks: readonly Task[], edits: PlanEdits): ChangedPlan["modifications"] {
  const changed = tasks.flatMap(({ id, priority: planned }): [string, TaskEdit][] => {
    const { skip = false, satisfied = false, priority = planned } = editOf(edits, id);
    if (skip) return [[id, { skip, satisfied }]];
    return priority === planned ? [] : [[id, { priority }]];
  });
  return Object.fromEntries(changed);
}
