import { taskReport } from "../../run/plan/task-report.ts";
import type { FollowedRun } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

/**
 * Input for the prompts of a run that starts from `commit`, the result of `run`. Without an `outcome` the run counts as
 * failed.
 */
export function followedRun(run: Run, commit: string): FollowedRun {
  return {
    run: run.id,
    commit,
    request: run.userRequest,
    outcome: run.outcome ?? "failed",
    tasks: run.tasks.map((task) => taskReport(run, task)),
  };
}
