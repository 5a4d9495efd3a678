import { estimatePlan, type PlanEstimate } from "../../../../tutti/src/run/plan/estimate.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

type Planned = Pick<Run, "tasks"> & {
  template: { config: Pick<Run["template"]["config"], "maxWorkers" | "parallelExecution"> };
};

/**
 * The page does not have the history of `known`, the estimate of the server for `tasks`. So it estimates both plans
 * without a history, and scales `known` by their ratio.
 */
export function estimateEdited(known: PlanEstimate, { tasks, template }: Planned, edited: Run["tasks"]): PlanEstimate {
  const { maxWorkers, parallelExecution } = template.config;
  const workers = parallelExecution ? maxWorkers : 1;
  const [before, after] = [estimatePlan(tasks, workers), estimatePlan(edited, workers)];
  const scaled = (name: "minutes" | "usd" | "tokens" | "criticalMinutes") =>
    before[name] > 0 ? Math.round(((known[name] * after[name]) / before[name]) * 100) / 100 : known[name];
  return {
    ...known,
    minutes: scaled("minutes"),
    usd: scaled("usd"),
    tokens: Math.round(scaled("tokens")),
    criticalPath: after.criticalPath,
    criticalMinutes: scaled("criticalMinutes"),
    advice: after.advice,
  };
}
