// Implements `Workspaces` with git worktrees of the user's repository.
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { environmentFault, findErrno } from "../environment-fault.ts";
import { TuttiError } from "../schema/error.ts";
import { pathName } from "../schema/ids.ts";
import { adopt } from "./adopt.ts";
import { commitFolder, COPIES, gitCommand, isPlainFolder, openCopied } from "./copied-folder.ts";
import { checkFolders, refuseVisibleData, type FolderLimits } from "./guard/folder-limits.ts";
import { ChangedPrograms, type EarlierValues } from "./guard/changed-programs.ts";
import {
  changedByOpenRuns,
  changedSincePin,
  differingPrograms,
  unpin,
  withEarlier,
  withPinned,
} from "./guard/pinned-settings.ts";
import { compareStates, readState } from "./guard/user-refs.ts";
import { provideFiles } from "./disk/provide-files.ts";
import { exists } from "./folder.ts";
import { findUnproven } from "./find-unproven.ts";
import { bothOrFirstError } from "./both-or-first-error.ts";
import { limitToScope } from "./limit-scope.ts";
import { collectGarbage } from "./kept/collect-garbage.ts";
import { deleteKept, listKept, markRemoved } from "./kept/kept-refs.ts";
import { combine } from "./merging/merge.ts";
import { endDialogues } from "./dialogue/git-dialogue.ts";
import { workspacePaths, runPaths, type RunPaths } from "./workspace-paths.ts";
import { enqueue } from "./queue.ts";
import { refuseRefsInTheWay } from "./refs.ts";
import { releaseRun, removeWorkspace } from "./removal.ts";
import {
  changedFiles,
  checkVersion,
  commitOf,
  findCommit,
  findHead,
  inspect,
  locate,
  readText,
  treeOf,
  type Repository,
} from "./repository.ts";
import { diffCommits } from "./result/diff-commits.ts";
import { dropBranch } from "./result/drop-branch.ts";
import { mergeResult, refuseChanged } from "./result/merge-result.ts";
import { findResult } from "./result/find-result.ts";
import { listPrograms } from "./guard/list-programs.ts";
import { RunBranch } from "./run-branch.ts";
import { saveWork, snapshot } from "./snapshot.ts";
import { realWorld } from "../world.ts";
import type { WorkspaceKey, Workspaces } from "./workspace.ts";
import { workspaceAccess } from "./guard/workspace-access.ts";
import { makeAhead, moveWorktree, prepareWorktree } from "./worktree.ts";

interface GitWorkspacesOptions extends FolderLimits {
  /** Absolute path. Workspaces are created at FOLDER/RUN/NAME-ATTEMPT; nothing outside `folder` is ever deleted. */
  folder: string;
}

export function createGitWorkspaces({ folder, ...limits }: GitWorkspacesOptions): Workspaces {
  const active = new Set<Promise<unknown>>();
  const changes = limits.dataFolder === undefined ? null : new ChangedPrograms(limits.dataFolder);
  const guarded = async <T>(task: () => Promise<T>): Promise<T> => {
    const work = withErrorCode(task, folder);
    active.add(work);
    try {
      return await work;
    } finally {
      active.delete(work);
    }
  };
  const open = async (cwd: string): Promise<Repository> => {
    const repository = await locate(cwd).catch((error: unknown) => {
      if (limits.dataFolder === undefined || !isPlainFolder(error)) throw error;
      return openCopied(join(limits.dataFolder, COPIES), cwd);
    });
    await checkFolders(repository, limits);
    return repository;
  };
  /** Unlike `open`, pins the settings of the run. */
  const openFor = async (cwd: string, runId: string): Promise<{ repository: Repository; run: RunPaths }> => {
    const run = await runPaths(folder, runId);
    const repository = await open(cwd);
    return { repository: await withPinned(repository, run, () => changes?.of(repository) ?? new Map()), run };
  };
  /** Without `lanes`, the operation runs alone on its repository. Different repositories do not wait for each other. */
  const changing = <T>(
    cwd: string,
    runId: string,
    task: (repository: Repository, run: RunPaths) => Promise<T>,
    lanes?: (run: RunPaths) => readonly string[],
  ): Promise<T> =>
    guarded(async () => {
      const { repository, run } = await openFor(cwd, runId);
      return enqueue(repository.commonDir, () => task(repository, run), lanes?.(run));
    });
  /** Programs that changed while a run was open, with their values from before the first of these runs. */
  const changedByRuns = async (repository: Repository): Promise<EarlierValues> =>
    new Map(changes ? [...(await changedByOpenRuns(repository)), ...changes.of(repository)] : []);
  const openFirst = async (cwd: string): Promise<Repository> => {
    // A git that is too old explains every other error.
    const [, found] = await bothOrFirstError(checkVersion(), open(cwd));
    const repository = await withEarlier(found, await changedByRuns(found));
    await refuseVisibleData(repository, limits);
    await refuseRefsInTheWay(repository);
    if (repository.isCopy) await enqueue(repository.commonDir, () => commitFolder(repository));
    return repository;
  };
  return {
    inspect: (cwd) =>
      guarded(async () => {
        const repository = await openFirst(cwd);
        return { ...(await inspect(repository)), ...(repository.isCopy ? { isCopy: true } : {}) };
      }),
    locate: (cwd) =>
      guarded(async () => {
        const repository = await openFirst(cwd);
        const { root, prefix, gitDir, isCopy } = repository;
        const head = await findHead(root, gitDir);
        const programs = await differingPrograms(repository, await changedByRuns(repository));
        return { root, prefix, head, ...(isCopy && { isCopy }), ...(programs.length > 0 && { programs }) };
      }),
    acceptPrograms: (cwd) =>
      guarded(async () => {
        const repository = await open(cwd);
        const agreed = await differingPrograms(repository, await changedByRuns(repository));
        const { inherited } = await listPrograms(repository);
        changes?.accept(repository, agreed, inherited);
      }),
    combine: (cwd, runId, base, commits, message, favour) =>
      guarded(async () => {
        const { repository, run } = await openFor(cwd, runId);
        const merge = await combine(repository, run, base, commits, message);
        if (merge.ok || favour === undefined) return merge;
        // With `favour`, `combine` uses scratch files of the run, so it must be alone.
        const merging = () => combine(repository, run, base, commits, message, favour);
        return enqueue(repository.commonDir, merging, mergeLane(run));
      }),
    changedFiles: (cwd, from, to) => guarded(async () => changedFiles(await open(cwd), from, to)),
    readText: (cwd, commit, path) => guarded(async () => readText(await open(cwd), commit, path)),
    diff: (cwd, from, to, { resultOf, ...options } = {}) =>
      guarded(async () => {
        const repository = await open(cwd);
        const [base, head] = [await findCommit(repository, from), await findCommit(repository, to)];
        if (base === null || head === null) return null;
        const end = resultOf === undefined ? head : await findResult(repository, resultOf, head);
        return diffCommits(repository, base, end, options);
      }),
    changesSince: (cwd, before) =>
      guarded(async () => {
        const repository = await open(cwd);
        const state = await readState(repository, await realpath(folder).catch(() => folder));
        return { state, changes: before && (await compareStates(repository, before, state)) };
      }),
    prepare: (cwd, key, start, files = {}) => {
      const prepare = async (repository: Repository, run: RunPaths) => {
        const paths = workspacePaths(run, key);
        const prepared = await prepareWorktree(repository, run, paths, start, inRepository(files.only, repository));
        await provideFiles(repository, paths, files);
        return { ...prepared, ...((await exists(paths.sparse)) && { isSparse: true as const }) };
      };
      return changing(cwd, key.runId, prepare, listLanesOf(key));
    },
    prepareAhead: (cwd, key, commit) =>
      changing(
        cwd,
        key.runId,
        (repository, run) => makeAhead(repository, run, workspacePaths(run, key), commit),
        listLanesOf(key),
      ),
    access: (cwd, key) =>
      guarded(async () => {
        const { repository, run } = await openFor(cwd, key.runId);
        return workspaceAccess(repository, workspacePaths(run, key));
      }),
    move: (cwd, key, to, options) =>
      changing(cwd, key.runId, (repository, run) =>
        moveWorktree(repository, run, workspacePaths(run, key), to, options),
      ),
    snapshot: (cwd, key, start, message, scope = []) => {
      const take = async (repository: Repository, run: RunPaths) => {
        const commit = await commitOf(repository, start);
        const paths = workspacePaths(run, key);
        const taken = await snapshot(repository, paths, commit, message);
        return scope.length === 0 ? taken : limitToScope(repository, paths, commit, taken, scope);
      };
      return changing(cwd, key.runId, take, laneOf(key));
    },
    findUnproven: (cwd, key, taken, claimed) =>
      guarded(async () => {
        const { repository, run } = await openFor(cwd, key.runId);
        return findUnproven(repository, workspacePaths(run, key).path, taken, claimed);
      }),
    saveWork: (cwd, key, start, message) => {
      const save = async (repository: Repository, run: RunPaths) => {
        const commit = await commitOf(repository, start);
        return saveWork(repository, workspacePaths(run, key), commit, message);
      };
      return changing(cwd, key.runId, save, laneOf(key));
    },
    treeOf: (cwd, commit) =>
      guarded(async () => {
        const repository = await open(cwd);
        return treeOf(repository, await commitOf(repository, commit));
      }),
    adopt: (cwd, key, start, result, message) =>
      changing(cwd, key.runId, async (repository, run) => {
        const commit = await commitOf(repository, start);
        return adopt(repository, workspacePaths(run, key), commit, result, message);
      }),
    openBranch: (cwd, runId, head, pending = []) =>
      changing(cwd, runId, (repository, run) => new RunBranch(repository, run, runId).open(head, pending), mergeLane),
    integrate: (cwd, runId, head, merge) =>
      changing(
        cwd,
        runId,
        (repository, run) => new RunBranch(repository, run, runId).integrate(head, merge),
        mergeLane,
      ),
    // The run is over, so `openFor` has no pinned settings.
    mergeResult: (cwd, runId, head, options) =>
      guarded(async () => {
        const repository = await open(cwd);
        refuseChanged(runId, await differingPrograms(repository, await changedByRuns(repository)));
        return enqueue(repository.commonDir, async () => {
          if (repository.isCopy) await commitFolder(repository);
          const merged = await mergeResult(repository, runId, head, options);
          return repository.isCopy ? { ...merged, git: gitCommand(repository) } : merged;
        });
      }),
    findResult: (cwd, runId, head) =>
      guarded(async () => {
        const repository = await open(cwd);
        const commit = await findCommit(repository, head);
        return commit && findResult(repository, runId, commit);
      }),
    dropBranch: (cwd, runId) =>
      guarded(async () => {
        const repository = await open(cwd);
        const run = await runPaths(folder, runId);
        return enqueue(repository.commonDir, () => dropBranch(repository, run, runId));
      }),
    forget: (cwd, runId, { free }) =>
      guarded(async () => {
        const repository = await open(cwd);
        const name = pathName(runId);
        await enqueue(repository.commonDir, async () => {
          if (!free) return markRemoved(repository, name);
          await deleteKept(repository, await listKept(repository, name));
          if (repository.isCopy) await collectGarbage(repository, { isIdle: false, now: realWorld.now() });
        });
      }),
    remove: (cwd, key) =>
      changing(
        cwd,
        key.runId,
        (repository, run) => removeWorkspace(repository, run, workspacePaths(run, key)),
        listLanesOf(key),
      ),
    release: (cwd, runId, recorded) =>
      changing(cwd, runId, async (repository, run) => {
        changes?.add(repository, await changedSincePin(repository, run));
        await releaseRun(repository, run);
        const moved = recorded ? await new RunBranch(repository, run, runId).restore(recorded) : [];
        unpin(repository, run);
        await endDialogues([repository.gitDir, repository.commonDir]);
        return moved;
      }),
    close: async () => {
      // A task that is still `active` would start another process after `endDialogues`.
      while (active.size > 0) await Promise.allSettled(active);
      await endDialogues();
    },
  };
}

/** The lane of an operation that reads and changes one workspace and the refs of its attempt. */
const laneOf =
  (key: WorkspaceKey) =>
  (run: RunPaths): string[] => [workspacePaths(run, key).path];

/** An operation that also changes git's list of worktrees runs beside no other one of that kind. */
const listLanesOf =
  (key: WorkspaceKey) =>
  (run: RunPaths): string[] => ["worktrees", ...laneOf(key)(run)];

/** The lane of an operation that changes the branch of a run or uses its scratch files. */
const mergeLane = ({ runFolder }: RunPaths): string[] => [runFolder];

/** `only` may be relative to the run's folder or to the top of the repository, so `inRepository` returns both. */
const inRepository = (paths: readonly string[] = [], { prefix }: Repository): string[] =>
  prefix === "" ? [...paths] : paths.flatMap((path) => [path, `${prefix}/${path}`]);

/** Converts file system errors in `folder` to `TuttiError`, so that callers always get a code. */
async function withErrorCode<T>(task: () => Promise<T>, folder: string): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TuttiError || !("code" in error)) throw error;
    const errno = findErrno(error);
    if (errno) throw environmentFault("A workspace cannot be written", errno, folder, { cause: error });
    const problem = `A workspace in "${folder}" cannot be written: ${error.message}.`;
    throw new TuttiError("workspace_failed", `${problem} Check that folder.`, { cause: error });
  }
}
