import type { Report } from "../../run/command.ts";
import { workerOf } from "../../run/lookup.ts";
import { isLeftToUser } from "../../run/rules/collisions.ts";
import { TuttiError } from "../../schema/error.ts";
import { attemptRef } from "../../schema/ids.ts";
import type { Conflict, MovedRef } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";
import type { Favour, PendingMerge, RecordedRefs, Workspaces } from "../../workspace/workspace.ts";

/** Tasks that are merged into the branch, but not yet in the state of the run. */
type MergedBefore = Pick<ReadonlySet<string>, "has">;

/**
 * Merges the work of `taskId` onto `head`, which the log recorded or is about to record. Idempotent: the same input gives
 * the same report, also after a crash.
 */
export async function mergeWork(
  run: Run,
  head: string,
  taskId: string,
  workspaces: Workspaces,
  alreadyMerged: MergedBefore,
): Promise<{ report: Extract<Report, { type: "merged" | "conflicted" }>; moved: MovedRef | null }> {
  const worker = workerOf(run, taskId)!;
  const commit = worker.commit!;
  const { moved, ...merge } = await workspaces.integrate(run.cwd, run.id, head, pendingMerge(run, worker));
  // `pendingMerge` always names a side, so that no conflict keeps the rest of the work out of the branch.
  if (!merge.ok) throw new TuttiError("workspace_failed", `The work of ${taskId} could not be merged. Retry the task.`);
  const merged = { taskId, commit, head: merge.commit };
  if (merge.settled.length === 0) return { report: { type: "merged", ...merged }, moved };
  const { conflictResolution } = run.template.phases.aggregation;
  const isOpen = OPEN.has(conflictResolution) || isLeftToUser(run);
  const conflict = conflictIn(run, alreadyMerged, worker, merge.settled, isOpen ? null : conflictResolution);
  return { report: { type: isOpen ? "conflicted" : "merged", ...merged, conflict }, moved };
}

export const pendingMerge = (run: Run, { taskId, task, commit }: Worker): PendingMerge => ({
  commit: commit!,
  message: `Merge ${taskId}: ${task.title}`,
  favour: FAVOURED[run.template.phases.aggregation.conflictResolution],
});

export const resultMessage = (run: Run): string => `Result of ${run.id}`;

/** Merges that the branch may contain although the log does not: the engine may have stopped in between. */
export function pendingMerges(run: Run): PendingMerge[] {
  const unmerged = Object.values(run.workers).filter(({ commit, merged }) => commit !== null && merged === "not yet");
  const result = run.main && {
    commit: attemptRef(run.id, "main", run.main.attempt),
    message: resultMessage(run),
  };
  return [...unmerged.map((worker) => pendingMerge(run, worker)), ...(result ? [result] : [])];
}

export function recordedRefs(run: Run, head: string): RecordedRefs {
  const attempts = Object.values(run.workers).flatMap(({ taskId, attempt, commit, status }) =>
    status === "completed" && commit !== null ? [{ name: taskId, attempt, commit }] : [],
  );
  return { head, attempts, pending: pendingMerges(run) };
}

type Resolution = Run["template"]["phases"]["aggregation"]["conflictResolution"];

/** With an `OPEN` resolution the branch holds the first version until the main session or the user decides. */
export const FAVOURED: Record<Resolution, Favour> = {
  "first-wins": "first",
  "last-wins": "last",
  smart: "first",
  ask: "first",
};
const OPEN: ReadonlySet<Resolution> = new Set(["smart", "ask"]);

const isMerged = ({ merged, taskId }: Worker, alreadyMerged: MergedBefore): boolean =>
  merged === "merged" || (merged === "not yet" && alreadyMerged.has(taskId));

function conflictIn(
  run: Run,
  alreadyMerged: MergedBefore,
  worker: Worker,
  paths: string[],
  resolution: string | null,
): Conflict {
  const files = new Set(paths);
  const others = Object.values(run.workers).filter(
    (other) => isMerged(other, alreadyMerged) && other.outputFiles.some((file) => files.has(file)),
  );
  const parties = [...others, worker];
  return {
    type: "file_conflict",
    files: paths,
    tasks: parties.map((party) => party.taskId),
    resolution,
    refs: parties.map((party) => attemptRef(run.id, party.taskId, party.attempt)),
  };
}
