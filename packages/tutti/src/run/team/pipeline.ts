// `planOfPipeline` is the fixed plan of a team: one task per step of the template's pipeline.
import { isDeployment, isReview } from "./gate.ts";
import type { PlanChanges } from "../command.ts";
import type { Plan } from "../plan/plan.ts";
import type { Run } from "../../schema/run.ts";
import { DEFAULT_PRIORITY } from "../../schema/task.ts";

/** Returns null if the template has no `pipeline`. */
export function planOfPipeline({ template, userRequest }: Run): Plan | null {
  if (!template.pipeline) return null;
  const tasks = template.pipeline.map(
    ({ id, role, title, requirements, acceptanceCriteria, after, filesToReview }) => ({
      id,
      title,
      description: [`Request: ${userRequest}`, ...requirements].join("\n"),
      scope: [],
      priority: DEFAULT_PRIORITY,
      dependencies: after,
      role,
      requirements,
      acceptanceCriteria,
      ...(filesToReview ? { filesToReview } : {}),
    }),
  );
  return { tasks, errors: [], warnings: [], executionOrder: null };
}

/** A task that `isReview` or `isDeployment` stays as the template wants it: the user may neither skip nor change it. */
export function forbiddenChanges(run: Run, { tasks = {}, removed = [] }: PlanChanges): string[] {
  const changed = Object.entries(tasks).filter(([, change]) => Object.keys(change).length > 0);
  const named = new Set([...changed.map(([id]) => id), ...removed]);
  return run.tasks
    .filter((task) => named.has(task.id) && (isReview(run, task) || isDeployment(run, task)))
    .map(({ id, role }) => `the task ${id} of ${role} cannot be skipped or changed`);
}
