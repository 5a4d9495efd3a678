import { foundationOf } from "../plan/dependencies-of.ts";
import { entryOf } from "../fold/shared-record.ts";
import { attemptRef } from "../../schema/ids.ts";
import type { Conflict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/**
 * Files that several tasks changed and git merged without a conflict, grouped by their tasks. A pair of tasks
 * counts only if it `isApart`: a task that builds on another one knows its changes.
 */
export function overlaps(run: Run): Conflict[] {
  const changed = new Map<string, Worker[]>();
  for (const { id } of run.tasks) {
    const worker = entryOf(run.workers, id);
    if (worker?.status !== "completed") continue;
    for (const file of worker.outputFiles) changed.set(file, [...(changed.get(file) ?? []), worker]);
  }
  const conflicting = new Set(run.conflicts.flatMap(({ files }) => files));
  const found = new Map<string, Conflict>();
  for (const [file, workers] of changed) {
    if (workers.length < 2 || conflicting.has(file)) continue;
    const apart = workers.filter((one) => workers.some((other) => isApart(run, one.taskId, other.taskId)));
    if (apart.length === 0) continue;
    const tasks = apart.map(({ taskId }) => taskId);
    const known = found.get(tasks.join(" "));
    if (known) known.files.push(file);
    else {
      const refs = apart.map(({ taskId, attempt }) => attemptRef(run.id, taskId, attempt));
      found.set(tasks.join(" "), { type: "overlap", files: [file], tasks, resolution: "merged", refs });
    }
  }
  return [...found.values()];
}

/** Whether neither task is among `foundationOf` the other one. */
export const isApart = (run: Run, one: string, other: string): boolean =>
  one !== other && !foundationOf(run, one).has(other) && !foundationOf(run, other).has(one);
