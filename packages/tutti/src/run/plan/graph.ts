import type { Task } from "../../schema/task.ts";
import { sentence } from "../../sentence.ts";

export function planErrors(tasks: readonly Task[]): string[] {
  const errors: string[] = [];
  if (tasks.length === 0) errors.push(sentence("the plan has no task"));
  const ids = new Set<string>();
  for (const { id } of tasks) {
    if (ids.has(id)) errors.push(sentence("two tasks have the id {taskId}", { taskId: id }));
    ids.add(id);
  }
  for (const task of tasks) {
    for (const dependency of task.dependencies) {
      if (!ids.has(dependency))
        errors.push(
          sentence("task {taskId} depends on {task}, which is not in the plan", { taskId: task.id, task: dependency }),
        );
    }
  }
  if (errors.length === 0) {
    const cycle = findCycle(tasks);
    if (cycle) errors.push(sentence("the dependencies form a cycle: {cycle}", { cycle: cycle.join(" → ") }));
  }
  return errors;
}

/** Returns a cycle from a task back to itself, or null. Call `planErrors` first: ids must be unique and known. */
export function findCycle(tasks: readonly Task[]): string[] | null {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const state = new Map<string, "open" | "done">();
  // An explicit stack, because recursion overflows on a chain of 100,000 tasks.
  for (const root of tasks) {
    if (state.has(root.id)) continue;
    const path: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    state.set(root.id, "open");
    while (path.length > 0) {
      const top = path.at(-1)!;
      const dependency = byId.get(top.id)?.dependencies[top.next++];
      if (dependency === undefined) {
        state.set(top.id, "done");
        path.pop();
      } else if (state.get(dependency) === "open") {
        const from = path.findIndex((step) => step.id === dependency);
        return [...path.slice(from).map((step) => step.id), dependency];
      } else if (!state.has(dependency)) {
        state.set(dependency, "open");
        path.push({ id: dependency, next: 0 });
      }
    }
  }
  return null;
}

/** `Links` identify a task by its index in the plan. */
export interface Links {
  /** Maps a task id to its index. */
  places: ReadonlyMap<string, number>;
  /** The `dependencies` of each task, without duplicates and unknown tasks. */
  needs: readonly (readonly number[])[];
  dependents: readonly (readonly number[])[];
}

export function linksOf(tasks: readonly Task[]): Links {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  const needs = tasks.map(({ dependencies }) => [...new Set(dependencies)].flatMap((id) => places.get(id) ?? []));
  const dependents: number[][] = tasks.map(() => []);
  for (const [place, needed] of needs.entries()) for (const each of needed) dependents[each]!.push(place);
  return { places, needs, dependents };
}

/**
 * Groups tasks by dependency level, for display only: a task starts as soon as its own dependencies are complete. Tasks in
 * or behind a cycle are omitted.
 */
export function parallelGroups(tasks: readonly Task[]): string[][] {
  const open = new Map(tasks.map((task) => [task.id, new Set(task.dependencies).size]));
  const dependents = new Map<string, string[]>(tasks.map((task) => [task.id, []]));
  for (const task of tasks) {
    for (const dependency of new Set(task.dependencies)) dependents.get(dependency)?.push(task.id);
  }
  const groups: string[][] = [];
  let group = tasks.filter((task) => open.get(task.id) === 0).map((task) => task.id);
  while (group.length > 0) {
    groups.push(group);
    const next: string[] = [];
    for (const id of group) {
      for (const dependent of dependents.get(id) ?? []) {
        const left = open.get(dependent)! - 1;
        open.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    }
    group = next;
  }
  return groups;
}
