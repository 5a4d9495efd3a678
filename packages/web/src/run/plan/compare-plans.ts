// `rememberPlan` keeps the plan that the user sent back in this tab, for `comparePlans` with the next one.
import type { Task } from "../../../../tutti/src/schema/task.ts";

interface PlanComparison {
  added: string[];
  removed: string[];
  changed: string[];
}

const keyOf = (run: string): string => `tutti-plan-${run}`;

export function rememberPlan(run: string, tasks: readonly Task[]): void {
  try {
    sessionStorage.setItem(keyOf(run), JSON.stringify(tasks));
  } catch {
    // Without `sessionStorage` there is no comparison.
  }
}

export function earlierPlan(run: string): Task[] | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(run)) ?? "null") as Task[] | null;
  } catch {
    return null;
  }
}

export function comparePlans(before: readonly Task[], after: readonly Task[]): PlanComparison {
  const old = new Map(before.map((task) => [task.id, task]));
  const young = new Map(after.map((task) => [task.id, task]));
  const shape = ({ title, description, scope, dependencies }: Task) =>
    JSON.stringify([title, description, scope, dependencies]);
  return {
    added: after.flatMap(({ id }) => (old.has(id) ? [] : [id])),
    removed: before.flatMap(({ id }) => (young.has(id) ? [] : [id])),
    changed: after.flatMap((task) => {
      const earlier = old.get(task.id);
      return earlier && shape(earlier) !== shape(task) ? [task.id] : [];
    }),
  };
}
