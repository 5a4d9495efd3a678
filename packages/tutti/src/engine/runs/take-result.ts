// `mergeResult` and `dropResult` record what they did. A repetition after a crash finds nothing left to do.
import type { Live } from "./run-registry.ts";
import { endedResult, refuseNewPrograms } from "../../run/ended-result.ts";
import type { DropReport, MergeReport } from "../../schema/api/result-values.ts";
import { runBranch } from "../../schema/ids.ts";
import type { Workspaces } from "../../workspace/workspace.ts";

export async function mergeResult(live: Live, workspaces: Workspaces, noFf: boolean): Promise<MergeReport> {
  const { writer, reconciler } = live;
  await reconciler.settled();
  const { id, cwd, userRequest } = writer.run;
  const message = `Merge branch '${runBranch(id)}'\n\n${userRequest.trim()}\n`;
  const head = endedResult(writer.run);
  refuseNewPrograms(writer.run);
  const { git = "git", added, ...merged } = await workspaces.mergeResult(cwd, id, head, { noFf, message });
  if (merged.from === merged.to) return { ...merged, undo: null };
  await writer.submit({ type: "record", event: { type: "result:merged", data: { id, ...merged } } });
  return { ...merged, ...(added && { added }), undo: `${git} reset --keep ${merged.from}` };
}

export async function dropResult({ writer, reconciler }: Live, workspaces: Workspaces): Promise<DropReport> {
  // A run that has just ended still compares its branch with the log.
  await reconciler.settled();
  const { id, cwd } = writer.run;
  endedResult(writer.run);
  const branch = runBranch(id);
  const commit = await workspaces.dropBranch(cwd, id);
  if (commit === null) return { branch, commit, undo: null };
  await writer.submit({ type: "record", event: { type: "result:dropped", data: { id, commit } } });
  return { branch, commit, undo: `git branch ${branch} ${commit}` };
}
