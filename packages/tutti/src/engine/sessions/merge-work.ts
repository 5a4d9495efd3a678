import type { Report } from "../../run/command.ts";
import { attemptRef } from "../../schema/ids.ts";
import type { Conflict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";
import type { Favour, Workspaces } from "../../workspace/workspace.ts";

/** Tasks that are merged into the branch, but not yet in the state of the run. */
type MergedBefore = Pick<ReadonlySet<string>, "has">;

/**
 * Merges the work of `taskId` into the run's branch. Idempotent: after a crash it finds the commit already merged and
 * returns the same report.
 */
export async function mergeWork(
  run: Run,
  taskId: string,
  workspaces: Workspaces,
  alreadyMerged: MergedBefore,
): Promise<Report> {
  const worker = run.workers[taskId]!;
  const commit = worker.commit!;
  const message = `Merge ${taskId}: ${worker.task.title}`;
  const { conflictResolution } = run.template.phases.aggregation;
  const favour = FAVOURED[conflictResolution];
  const merge = await workspaces.integrate(run.cwd, run.id, commit, message, favour);
  const merged = (head: string) => ({ type: "merged" as const, taskId, commit, head });
  if (merge.ok && merge.settled.length === 0) return merged(merge.commit);
  const conflict = conflictIn(
    run,
    alreadyMerged,
    worker,
    merge.ok ? merge.settled : merge.files,
    merge.ok ? conflictResolution : null,
  );
  return merge.ok ? { ...merged(merge.commit), conflict } : { type: "conflicted", taskId, commit, conflict };
}

const FAVOURED: Partial<Record<string, Favour>> = { "first-wins": "first", "last-wins": "last" };

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
