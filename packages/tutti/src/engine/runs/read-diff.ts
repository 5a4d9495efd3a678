import { comparedCommits, noWork } from "../../run/compared-commits.ts";
import type { ResultDiff } from "../../schema/api/result-values.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import type { DiffOptions } from "../../workspace/result/diff-commits.ts";
import type { Workspaces } from "../../workspace/workspace.ts";

export interface DiffRequest extends DiffOptions {
  /** Compares the work of one task instead of `comparedCommits` of the run. */
  task?: string | undefined;
}

export async function readDiff(
  workspaces: Workspaces,
  run: Run,
  { task, ...options }: DiffRequest = {},
): Promise<ResultDiff> {
  const taskId = task ?? null;
  const { base, head, unfinished } = comparedCommits(run, taskId);
  // While a run works, its branch may be ahead of the log.
  const resultOf = taskId === null && isRunOver(run.status) ? run.id : undefined;
  const compare = (revision: string) => workspaces.diff(run.cwd, base, revision, { ...options, resultOf });
  const diff = (unfinished === null ? null : await compare(unfinished)) ?? (await compare(head));
  if (diff === null) throw noWork(run, taskId);
  return diff;
}
