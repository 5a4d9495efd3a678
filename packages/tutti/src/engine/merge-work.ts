// One task's accepted work into the run's branch.
import type { Report } from "../run/command.ts";
import { attemptRef } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import type { Workspaces } from "../workspace/workspace.ts";

/** A repeat after a crash finds the commit already merged and gives the same answer. */
export async function mergeWork(run: Run, taskId: string, workspaces: Workspaces): Promise<Report> {
  const worker = run.workers[taskId]!;
  const commit = worker.commit!;
  const merge = await workspaces.integrate(run.cwd, run.id, commit, `Merge ${taskId}: ${worker.task.title}`);
  if (merge.ok) return { type: "merged", taskId, commit, head: merge.commit };
  const files = new Set(merge.files);
  const others = Object.values(run.workers).filter(
    (other) => other.merged === "merged" && other.outputFiles.some((file) => files.has(file)),
  );
  const parties = [...others, worker];
  const conflict = {
    type: "file_conflict",
    files: merge.files,
    tasks: parties.map((party) => party.taskId),
    resolution: null,
    refs: parties.map((party) => attemptRef(run.id, party.taskId, party.attempt)),
  };
  return { type: "conflicted", taskId, commit, conflict };
}
