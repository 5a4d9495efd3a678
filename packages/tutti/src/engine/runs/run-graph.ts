import { taskStanding } from "../../run/census.ts";
import { estimatePlan } from "../../run/plan/estimate.ts";
import { workerOf } from "../../run/lookup.ts";
import type { RunGraph } from "../../schema/api/run-values.ts";
import type { Run } from "../../schema/run.ts";

export function runGraph(run: Run): RunGraph {
  const { tasks, parallelGroups, planErrors, template } = run;
  const groups = new Map(parallelGroups.flatMap((ids, place) => ids.map((id) => [id, place])));
  const ids = new Set(tasks.map(({ id }) => id));
  // A plan with errors may have a cycle, and then no longest path.
  const isSound = tasks.length > 0 && planErrors.length === 0;
  return {
    nodes: tasks.map(({ id, title, priority }) => {
      const worker = workerOf(run, id);
      return {
        id,
        title,
        priority,
        standing: taskStanding(run, id),
        progress: worker?.progress ?? 0,
        sessionId: worker?.sessionId ?? null,
        attempt: worker?.attempt ?? 0,
        group: groups.get(id) ?? null,
      };
    }),
    edges: tasks.flatMap(({ id, dependencies }) =>
      [...new Set(dependencies)].filter((needed) => ids.has(needed)).map((needed) => ({ from: needed, to: id })),
    ),
    parallelGroups,
    criticalPath: isSound ? estimatePlan(tasks, template.config.maxWorkers).criticalPath : [],
  };
}
