import type { Frame } from "../../../../tutti/src/client/frame.ts";
import type { Task } from "../../../../tutti/src/schema/task.ts";

interface PlanComparison {
  added: string[];
  removed: string[];
  changed: string[];
}

/** The plan before the newest one in `frames`, the end of the log; null if the run had only one. */
export function earlierPlan(frames: readonly Frame[]): Task[] | null {
  const plans = frames.flatMap((frame) => (frame.type === "orchestrator:tasksReady" ? [frame.data.tasks] : []));
  return plans.at(-2) ?? null;
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
