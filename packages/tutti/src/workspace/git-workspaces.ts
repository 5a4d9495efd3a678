// Implements `Workspaces` with git worktrees of the user's repository.
import { TuttiError } from "../schema/error.ts";
import { adopt } from "./adopt.ts";
import { checkFolders, refuseVisibleData, type FolderLimits } from "./guard/folder-limits.ts";
import { compareStates, readState } from "./guard/user-refs.ts";
import { combine } from "./merge.ts";
import { endQuestions } from "./object-names.ts";
import { workspacePaths, runPaths } from "./workspace-paths.ts";
import { enqueue } from "./queue.ts";
import { releaseRun, removeWorkspace } from "./removal.ts";
import { changedFiles, checkVersion, commitOf, inspect, locate, treeOf, type Repository } from "./repository.ts";
import { RunBranch } from "./run-branch.ts";
import { saveWork, snapshot } from "./snapshot.ts";
import type { Workspaces } from "./workspace.ts";
import { moveWorktree, prepareWorktree } from "./worktree.ts";

export interface GitWorkspacesOptions extends FolderLimits {
  /** Absolute path. Workspaces are created at FOLDER/RUN/NAME-ATTEMPT; nothing outside `folder` is ever deleted. */
  folder: string;
}

export function createGitWorkspaces({ folder, ...limits }: GitWorkspacesOptions): Workspaces {
  const open = async (cwd: string): Promise<Repository> => {
    const repository = await locate(cwd);
    await checkFolders(repository, limits);
    return repository;
  };
  /** Serialises the operations that change one repository. Different repositories do not wait for each other. */
  const changing = <T>(cwd: string, task: (repository: Repository) => Promise<T>): Promise<T> =>
    guarded(async () => {
      const repository = await open(cwd);
      return enqueue(repository.commonDir, () => task(repository));
    });
  return {
    inspect: (cwd) =>
      guarded(async () => {
        await checkVersion();
        const repository = await open(cwd);
        await refuseVisibleData(repository, limits);
        return inspect(repository);
      }),
    combine: (cwd, base, commits, message) => guarded(async () => combine(await open(cwd), base, commits, message)),
    changedFiles: (cwd, from, to) => guarded(async () => changedFiles(await open(cwd), from, to)),
    changesSince: (cwd, before) =>
      guarded(async () => {
        const repository = await open(cwd);
        const state = await readState(repository);
        return { state, changes: before && (await compareStates(repository, before, state)) };
      }),
    prepare: (cwd, key, start) =>
      changing(cwd, async (repository) => {
        const run = await runPaths(folder, key.runId);
        return { path: await prepareWorktree(repository, run, workspacePaths(run, key), start) };
      }),
    move: (cwd, key, to) =>
      changing(cwd, async (repository) => {
        const run = await runPaths(folder, key.runId);
        await moveWorktree(repository, run, workspacePaths(run, key), to);
      }),
    snapshot: (cwd, key, start, message) =>
      changing(cwd, async (repository) => {
        const commit = await commitOf(repository, start);
        const run = await runPaths(folder, key.runId);
        return snapshot(repository, workspacePaths(run, key), commit, message);
      }),
    saveWork: (cwd, key, start, message) =>
      changing(cwd, async (repository) => {
        const commit = await commitOf(repository, start);
        return saveWork(repository, workspacePaths(await runPaths(folder, key.runId), key), commit, message);
      }),
    treeOf: (cwd, commit) =>
      guarded(async () => {
        const repository = await open(cwd);
        return treeOf(repository, await commitOf(repository, commit));
      }),
    adopt: (cwd, key, start, result, message) =>
      changing(cwd, async (repository) => {
        const commit = await commitOf(repository, start);
        const run = await runPaths(folder, key.runId);
        return adopt(repository, workspacePaths(run, key), commit, result, message);
      }),
    openBranch: (cwd, runId, head, pending = []) =>
      changing(cwd, async (repository) => {
        return new RunBranch(repository, await runPaths(folder, runId), runId).open(head, pending);
      }),
    integrate: (cwd, runId, head, merge) =>
      changing(cwd, async (repository) => {
        return new RunBranch(repository, await runPaths(folder, runId), runId).integrate(head, merge);
      }),
    remove: (cwd, key) =>
      changing(cwd, async (repository) => {
        const run = await runPaths(folder, key.runId);
        await removeWorkspace(repository, run, workspacePaths(run, key));
      }),
    release: (cwd, runId, recorded) =>
      changing(cwd, async (repository) => {
        const run = await runPaths(folder, runId);
        await releaseRun(repository, run);
        const moved = recorded ? await new RunBranch(repository, run, runId).restore(recorded) : [];
        await endQuestions();
        return moved;
      }),
    close: endQuestions,
  };
}

/** Converts file system errors to `TuttiError`, so that callers always get a code. */
async function guarded<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TuttiError || !("code" in error)) throw error;
    const isDiskFull = error.code === "ENOSPC" || error.code === "EDQUOT";
    throw new TuttiError(isDiskFull ? "disk_full" : "workspace_failed", error.message, { cause: error });
  }
}
