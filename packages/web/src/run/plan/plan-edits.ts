// The user's edits of a plan before its confirmation.
import type { ChangedPlan } from "../../../../tutti/src/schema/plan-changes.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";

export interface TaskEdit {
  skip?: boolean;
  /** Whether the dependents of a skipped task may start without it. */
  satisfied?: boolean;
  priority?: number;
}

export type PlanEdits = Readonly<Record<string, TaskEdit>>;

export const editOf = (edits: PlanEdits, taskId: string): TaskEdit =>
  Object.hasOwn(edits, taskId) ? edits[taskId]! : {};

/** The tasks that depend on `taskId` and are not skipped themselves. */
export const dependentsOf = (tasks: readonly Task[], edits: PlanEdits, taskId: string): string[] =>
  tasks.filter(({ id, dependencies }) => dependencies.includes(taskId) && !editOf(edits, id).skip).map(({ id }) => id);

/** Contains only the tasks that differ from the plan. */
export function modifications(tasks: readonly Task[], edits: PlanEdits): ChangedPlan["modifications"] {
  const changed = tasks.flatMap(({ id, priority: planned }): [string, TaskEdit][] => {
    const { skip = false, satisfied = false, priority = planned } = editOf(edits, id);
    if (skip) return [[id, { skip, satisfied }]];
    return priority === planned ? [] : [[id, { priority }]];
  });
  return Object.fromEntries(changed);
}
