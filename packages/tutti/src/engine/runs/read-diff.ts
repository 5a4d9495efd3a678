import { comparedCommits, noWork } from "../../run/compared-commits.ts";
import { TuttiError } from "../../schema/error.ts";
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

/**
 * The files that the result changes. Git compares them, but the folder of the run may be gone, moved or on another machine,
 * and its commits freed. The outcome stays readable then, with the files of the completed tasks.
 */
export async function readOutputFiles(
  workspaces: Pick<Workspaces, "changedFiles">,
  { cwd, base, head, workers }: Run,
): Promise<{ files: string[]; warnings: string[] }> {
  if (base === null || head === null) return { files: [], warnings: [] };
  try {
    return { files: await workspaces.changedFiles(cwd, base, head), warnings: [] };
  } catch (error) {
    if (!(error instanceof TuttiError)) throw error;
    const completed = Object.values(workers).filter(({ status }) => status === "completed");
    const files = new Set(completed.flatMap(({ outputFiles }) => outputFiles));
    const warning = `The output files are those of the completed tasks, because git cannot compare. ${error.message}`;
    return { files: [...files].toSorted(), warnings: [warning] };
  }
}
