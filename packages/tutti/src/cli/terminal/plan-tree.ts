import type { Task } from "../../schema/task.ts";

export interface Branch {
  task: Task;
  stem: string;
  /** The `dependencies` other than the parent. */
  alsoAfter: string[];
}

/** Lists the tasks as a tree, in the order of the plan: `parentOf` a task is the last of its `dependencies`. */
export function planTree(tasks: readonly Task[]): Branch[] {
  const known = new Set(tasks.map(({ id }) => id));
  const parentOf = ({ dependencies }: Task) => dependencies.findLast((id) => known.has(id)) ?? null;
  const alsoAfter = (task: Task) => task.dependencies.filter((id) => id !== parentOf(task));
  const children = new Map<string | null, Task[]>();
  for (const task of tasks) {
    children.set(parentOf(task), [...(children.get(parentOf(task)) ?? []), task]);
  }
  const branches: Branch[] = [];
  const add = (parent: string | null, indent: string): void => {
    const list = children.get(parent) ?? [];
    // Lists that remain in `children` belong to cycles of an invalid plan, which no root reaches.
    children.delete(parent);
    for (const [i, task] of list.entries()) {
      const isLast = i === list.length - 1;
      branches.push({ task, stem: `${indent}${isLast ? "└ " : "├ "}`, alsoAfter: alsoAfter(task) });
      add(task.id, `${indent}${isLast ? "  " : "│ "}`);
    }
  };
  add(null, "  ");
  for (const list of children.values())
    for (const task of list) branches.push({ task, stem: "  ? ", alsoAfter: alsoAfter(task) });
  return branches;
}
