// A plan as a tree: each task below the last of those that it waits for, in the order of the plan.
import type { Task } from "../schema/task.ts";

export interface Branch {
  task: Task;
  /** What is drawn before it to show where it hangs. */
  stem: string;
  /** What it waits for besides the task that it hangs below. */
  alsoAfter: string[];
}

export function planTree(tasks: readonly Task[]): Branch[] {
  const known = new Set(tasks.map(({ id }) => id));
  const above = ({ dependencies }: Task) => dependencies.findLast((id) => known.has(id)) ?? null;
  const alsoAfter = (task: Task) => task.dependencies.filter((id) => id !== above(task));
  const children = new Map<string | null, Task[]>();
  for (const task of tasks) {
    children.set(above(task), [...(children.get(above(task)) ?? []), task]);
  }
  const branches: Branch[] = [];
  const add = (place: string | null, indent: string): void => {
    const list = children.get(place) ?? [];
    // A plan that is not sound may hang in a circle, which no root leads to.
    children.delete(place);
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
