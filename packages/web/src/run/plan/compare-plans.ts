import type { Frame } from "../../../../tutti/src/client/frame.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";

interface PlanComparison {
  added: string[];
  removed: string[];
  changed: string[];
}

const FIELDS = ["title", "description", "scope", "dependencies", "priority", "agent", "model", "labels"] as const;
export type ComparedField = (typeof FIELDS)[number];

interface FieldChange {
  id: string;
  field: ComparedField;
  /** Empty for a field without a value. */
  before: string;
  after: string;
}

export const labelLines = (labels: Task["labels"] = {}): string[] =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`);

function textOf(task: Task, field: ComparedField): string {
  const value = field === "labels" ? labelLines(task.labels) : task[field];
  return Array.isArray(value) ? value.join("\n") : String(value ?? "");
}

/** The plan before the newest one in `frames`, the end of the log; null if the run had only one. */
export function earlierPlan(frames: readonly Frame[]): Task[] | null {
  const plans = frames.flatMap((frame) => (frame.type === "orchestrator:tasksReady" ? [frame.data.tasks] : []));
  return plans.at(-2) ?? null;
}

export function comparePlans(before: readonly Task[], after: readonly Task[]): PlanComparison {
  const old = new Map(before.map((task) => [task.id, task]));
  const young = new Map(after.map((task) => [task.id, task]));
  return {
    added: after.flatMap(({ id }) => (old.has(id) ? [] : [id])),
    removed: before.flatMap(({ id }) => (young.has(id) ? [] : [id])),
    changed: after.flatMap((task) => {
      const earlier = old.get(task.id);
      return earlier && changesOfTask(earlier, task).length > 0 ? [task.id] : [];
    }),
  };
}

/** The fields of the tasks that both plans have and that differ. */
export function changedFields(before: readonly Task[], after: readonly Task[]): FieldChange[] {
  const old = new Map(before.map((task) => [task.id, task]));
  return after.flatMap((task) => {
    const earlier = old.get(task.id);
    return earlier ? changesOfTask(earlier, task) : [];
  });
}

const changesOfTask = (before: Task, after: Task): FieldChange[] =>
  FIELDS.flatMap((field) => {
    const [old, young] = [textOf(before, field), textOf(after, field)];
    return old === young ? [] : [{ id: after.id, field, before: old, after: young }];
  });
