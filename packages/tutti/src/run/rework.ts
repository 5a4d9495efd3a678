// `rejectMerge` does not merge work that breaks the combined files. Its task gets another attempt, which starts from
// the broken files and learns about the work on both sides.
import { describeFailed } from "./rules/checks.ts";
import { workerOf } from "./lookup.ts";
import { foundationOf } from "./plan/dependencies-of.ts";
import { entryOf } from "./fold/shared-record.ts";
import type { Report } from "./command.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { sentence } from "../sentence.ts";
import type { Worker } from "../schema/worker.ts";

export const awaitsMerge = (worker: Worker | undefined, commit: string): worker is Worker =>
  worker?.status === "completed" && worker.commit === commit && worker.merged === "not yet";

/** The task fails after `maxRetries`. */
export function rejectMerge(run: Run, report: Extract<Report, { type: "mergeRejected" }>): RunEvent[] {
  const { type: _, ...data } = report;
  const worker = workerOf(run, data.taskId);
  if (!awaitsMerge(worker, data.commit)) return [];
  const { sessionId, taskId, retryCount } = worker;
  const { retryOnError, maxRetries } = run.template.config;
  const about = { sessionId, orchestratorId: run.id, taskId };
  const rejected: RunEvent = { type: "merge:rejected", data: { id: run.id, ...data } };
  if (retryOnError && retryCount < maxRetries) {
    const again = { ...about, retryCount: retryCount + 1, automatic: true, notBefore: null };
    return [rejected, { type: "worker:retrying", data: again }];
  }
  const error = sentence("its work was not merged, because with it {detail}", {
    detail: data.commands.map((each) => describeFailed(each)).join(" and "),
  });
  return [rejected, { type: "worker:failed", data: { ...about, error, code: "check_failed" } }];
}

/** The merged tasks that are not in `foundationOf` the task, so its first start did not contain their work. */
export const mergedBeside = (run: Run, taskId: string): string[] => {
  const known = foundationOf(run, taskId);
  return run.tasks.flatMap(({ id }) =>
    id !== taskId && !known.has(id) && entryOf(run.workers, id)?.merged === "merged" ? [id] : [],
  );
};
