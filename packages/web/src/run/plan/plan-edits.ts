import { translate } from "../../text/language.ts";
import { labelLines } from "./compare-plans.ts";
import type { ChangedPlan } from "../../../../tutti/src/schema/plan-changes.ts";
import { DEFAULT_PRIORITY, type Task } from "../../../../tutti/src/schema/task.ts";

export interface TaskEdit {
  skip?: boolean;
  /** Whether the dependents of a skipped task may start without it. */
  satisfied?: boolean;
  priority?: number;
  title?: string;
  description?: string;
  scope?: string[];
  dependencies?: string[];
  agent?: string;
  model?: string;
  labels?: Record<string, string>;
}

export interface PlanEdits {
  /** By task id, also of `added` tasks. */
  tasks: Readonly<Record<string, TaskEdit>>;
  added: readonly string[];
  removed: readonly string[];
  /** The limit in US dollars; empty for that of the plan. */
  usd: string;
}

export const NO_EDITS: PlanEdits = { tasks: {}, added: [], removed: [], usd: "" };

export const editOf = ({ tasks }: PlanEdits, taskId: string): TaskEdit =>
  Object.hasOwn(tasks, taskId) ? tasks[taskId]! : {};

const newTask = (id: string): Task => ({
  id,
  title: id,
  description: id,
  scope: [],
  priority: DEFAULT_PRIORITY,
  dependencies: [],
});

/** Leaves out the `removed` tasks. */
export function editedTasks(planned: readonly Task[], edits: PlanEdits): Task[] {
  const tasks = [...planned, ...edits.added.map(newTask)].filter(({ id }) => !edits.removed.includes(id));
  return tasks.map((task) => {
    const { title, description, scope, dependencies, priority, agent, model, labels } = editOf(edits, task.id);
    return {
      ...task,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(scope && { scope }),
      // A task in `edits.removed` is no dependency any more.
      dependencies: (dependencies ?? task.dependencies).filter((id) => !edits.removed.includes(id)),
      ...(priority !== undefined && { priority }),
      ...(agent && { agent }),
      ...(model && { model }),
      ...(labels && { labels }),
    };
  });
}

/** Also removes what was edited of the added task, and the dependencies on it. */
export function withoutAdded({ tasks, added, ...rest }: PlanEdits, taskId: string): PlanEdits {
  const others = Object.entries(tasks).filter(([id]) => id !== taskId);
  const kept = others.map(([id, edit]): [string, TaskEdit] => [
    id,
    edit.dependencies ? { ...edit, dependencies: edit.dependencies.filter((each) => each !== taskId) } : edit,
  ]);
  return { ...rest, tasks: Object.fromEntries(kept), added: added.filter((id) => id !== taskId) };
}

/** Leaves out dependents that are skipped themselves. */
export const dependentsOf = (tasks: readonly Task[], edits: PlanEdits, taskId: string): string[] =>
  tasks.filter(({ id, dependencies }) => dependencies.includes(taskId) && !editOf(edits, id).skip).map(({ id }) => id);

export function freeId(planned: readonly Task[], { added }: PlanEdits): string {
  const used = new Set([...planned.map(({ id }) => id), ...added]);
  let number = 1;
  while (used.has(`added-${number}`)) number += 1;
  return `added-${number}`;
}

/** Returns the reason why the edited plan cannot be confirmed, or null. The server checks the same again. */
export function problemOf(planned: readonly Task[], edits: PlanEdits): string | null {
  const tasks = editedTasks(planned, edits);
  const empty = tasks.find(({ title, description }) => title.trim() === "" || description.trim() === "");
  if (empty) return translate("{id} needs a title and a description.", { id: empty.id });
  if (tasks.length === 0) return translate("The plan has no tasks.");
  const open = new Map(tasks.map(({ id, dependencies }) => [id, new Set(dependencies)]));
  for (;;) {
    const [ready] = [...open].find(([, needs]) => needs.size === 0) ?? [];
    if (ready === undefined) break;
    open.delete(ready);
    for (const needs of open.values()) needs.delete(ready);
  }
  if (open.size > 0) return translate("{tasks} depend on each other.", { tasks: [...open.keys()].join(", ") });
  return edits.usd !== "" && !(Number(edits.usd) > 0) ? translate("The budget must be more than 0.") : null;
}

/** The body of the confirmation contains only the differences from `planned`. */
export function changesOf(planned: readonly Task[], edits: PlanEdits): Partial<ChangedPlan> {
  const edited = new Map(editedTasks(planned, edits).map((task) => [task.id, task]));
  const modifications = Object.fromEntries(
    [...planned, ...edits.added.map(newTask)].flatMap((task): [string, ChangedPlan["modifications"][string]][] => {
      const after = edited.get(task.id);
      const { skip = false, satisfied = false, agent, model } = editOf(edits, task.id);
      if (!after) return [];
      if (skip) return [[task.id, { skip, satisfied }]];
      // The fields of an added task are in `added`.
      if (edits.added.includes(task.id)) return [];
      const isSame = (name: "title" | "description" | "priority") => after[name] === task[name];
      const hasSameScope = after.scope.join("\n") === task.scope.join("\n");
      // A dependency that was removed and added again is the last one.
      const hasSameNeeds = after.dependencies.toSorted().join("\n") === task.dependencies.toSorted().join("\n");
      const change = {
        ...(!isSame("title") && { title: after.title }),
        ...(!isSame("description") && { description: after.description }),
        ...(!isSame("priority") && { priority: after.priority }),
        ...(!hasSameScope && { scope: after.scope }),
        ...(!hasSameNeeds && { dependencies: after.dependencies }),
        ...(labelLines(after.labels).join("\n") !== labelLines(task.labels).join("\n") && { labels: after.labels }),
        ...(agent !== undefined && agent !== (task.agent ?? "") && { agent: agent === "" ? null : agent }),
        ...(model !== undefined && model !== (task.model ?? "") && { model: model === "" ? null : model }),
      };
      return Object.keys(change).length === 0 ? [] : [[task.id, change]];
    }),
  );
  const added = edits.added.flatMap((id) => edited.get(id) ?? []);
  return {
    modifications,
    ...(added.length > 0 && { added }),
    ...(edits.removed.length > 0 && { removed: [...edits.removed] }),
    ...(edits.usd !== "" && { budget: { usd: Number(edits.usd) } }),
  };
}

/** A field that was changed and changed back is no edit. */
export const hasChanges = ({ modifications, ...others }: Partial<ChangedPlan>): boolean =>
  Object.keys(modifications ?? {}).length + Object.keys(others).length > 0;
