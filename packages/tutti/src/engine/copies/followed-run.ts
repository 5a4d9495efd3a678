import { taskStanding } from "../../run/census.ts";
import { workerOf } from "../../run/lookup.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { FollowedRun } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

/** The prompts of the next run contain these texts, so long ones are cut. */
const MAX_SUMMARY = 2000;
const MAX_FILES = 50;

/** Describes an ended run for the prompts of a run that starts from its result `commit`. */
export function followedRun(run: Run, commit: string, events: Iterable<StoredEvent>): FollowedRun {
  const summaries = new Map<string, string>();
  for (const event of events) {
    if (event.type !== "worker:completed") continue;
    const { taskId, report, output } = event.data;
    const summary = report.summary ?? output;
    if (typeof summary === "string") summaries.set(taskId, summary);
  }
  return {
    run: run.id,
    commit,
    request: run.userRequest,
    outcome: run.outcome ?? "failed",
    tasks: run.tasks.map(({ id, title }) => {
      const worker = workerOf(run, id);
      const status = taskStanding(run, id);
      const summary = (status === "completed" ? summaries.get(id) : worker?.error) ?? "";
      const files = (worker?.outputFiles ?? []).slice(0, MAX_FILES);
      return { id, title, status, summary: summary.slice(0, MAX_SUMMARY), files };
    }),
  };
}
