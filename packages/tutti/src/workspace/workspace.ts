// A workspace is the folder of one attempt of one session, created from the user's repository. The user's checkout,
// index, branch and files are never touched, except by `mergeResult`, which only the user orders.
//
// Invariants
// 1. Every operation is idempotent: after a crash the engine repeats it and gets the same result.
// 2. Nothing is deleted that is not reachable elsewhere: work is committed to refs/tutti/RUN/NAME/ATTEMPT before its
//    folder is deleted.
// 3. Two workspaces share nothing that one could change for the other, except git's object store.
import type { GitSetting } from "./git.ts";
import type { DiffOptions } from "./result/diff-commits.ts";
import type { MergedResult, MergeOptions } from "./result/merge-result.ts";
import type { ResultDiff } from "../schema/api/result-values.ts";
import type { MovedRef, UnprovenFiles } from "../schema/outcome.ts";
import type { SandboxPaths } from "../schema/agent/sandbox.ts";

export interface RepositoryFacts {
  /** The top folder of the checkout, with symbolic links resolved. */
  root: string;
  /** Path of the run's folder below `root`; "" at the top. */
  prefix: string;
  head: string;
  /** The checked-out branch, or null if HEAD is detached. */
  branch: string | null;
  dirty: boolean;
  /** Sentences about files of the repository that workspaces do not contain. */
  gaps?: string[];
  /** True for a folder without git: the workers of a run take turns in copies of it. */
  isCopy?: boolean;
  /** Settings of git that name programs and changed while an earlier run was open: an agent may have written them. */
  programs?: GitSetting[];
}

/** `name` is a task id or `main`. */
export interface WorkspaceKey {
  runId: string;
  name: string;
  attempt: number;
  /** The session that works there. Only workspaces on other machines need `sessionId`. */
  sessionId?: string;
}

export interface ProvidedFiles {
  /**
   * Folders or files of the repository, with the files directly in the folders above them. The workspace has only
   * these, and the agent can check out more. Without `only` it has all files.
   */
  only?: readonly string[] | undefined;
  copy?: readonly string[] | undefined;
  link?: readonly string[] | undefined;
}

export interface PreparedWorkspace {
  path: string;
  /** Set if `ProvidedFiles.only` limits the files. */
  isSparse?: true | undefined;
  /** The commit of a workspace that was made ahead and was moved to its start. Its files stayed in the same folder. */
  movedFrom?: string;
}

export interface WorkspaceSnapshot {
  commit: string;
  /** Paths that differ from the start commit, relative to the repository's root, sorted. */
  files: string[];
  /** Changed paths outside the run's scope. `commit` does not contain them. */
  outside?: string[];
}

export type Merge = { ok: true; commit: string } | { ok: false; files: string[] };

/** `first` is the run's branch, `last` the new commit. The conflicting hunks are taken from that side. */
export type Favour = "first" | "last";

/**
 * `settled` lists the conflicting files that were settled by `favour`, sorted. Empty after a clean merge.
 * `moved` is set if something else had moved the run's branch.
 */
export type Integration = { moved: MovedRef | null } & (
  | { ok: true; commit: string; settled: string[] }
  | { ok: false; files: string[] }
);

/** `commit` is a hash or a ref. */
export interface PendingMerge {
  commit: string;
  message: string;
  favour?: Favour | undefined;
}

/** `RecordedRefs` are the refs of a run according to its log. */
export interface RecordedRefs {
  head: string;
  attempts: readonly (Pick<WorkspaceKey, "name" | "attempt"> & { commit: string })[];
  pending: readonly PendingMerge[];
}

/**
 * `refs` are the user's, with HEAD among them. `config` is the text of the repository's configuration. `files` maps names
 * of other files in the git folder to a hash.
 */
export interface RepositoryState {
  refs: ReadonlyMap<string, string>;
  config: string;
  files: ReadonlyMap<string, string>;
}

export interface RepositoryChanges {
  refs: { ref: string; from?: string; to?: string }[];
  /** `settings` has names only; values may be secrets. */
  settings: string[];
  /** Names of files in the git folder, such as a hook. */
  files?: string[];
}

export interface Workspaces {
  /** Throws `folder_not_found`, `not_a_repository`, `empty_repository` or `repository_unusable`. Changes nothing. */
  inspect(cwd: string): Promise<RepositoryFacts>;
  /** Like `inspect`, without a look at the files. */
  locate(cwd: string): Promise<Pick<RepositoryFacts, "root" | "prefix" | "head" | "programs" | "isCopy">>;
  /** Lets runs use the `programs` that `locate` returned. Call it when the user has agreed to them. */
  acceptPrograms(cwd: string): Promise<void>;
  /**
   * Merges `commits` into `base` in this order, without a checkout. Fast-forwards if one side contains the other. The
   * same input always gives the same commit. With `favour`, conflicts are settled as in `integrate`.
   */
  combine(
    cwd: string,
    runId: string,
    base: string,
    commits: readonly string[],
    message: string,
    favour?: Favour,
  ): Promise<Merge>;
  /**
   * Creates the workspace at `start`, or returns the existing one untouched. The `path` in a `PreparedWorkspace` is the
   * folder that corresponds to `cwd`. It gets those of the ignored `files` that it lacks.
   */
  prepare(cwd: string, key: WorkspaceKey, start: string, files?: ProvidedFiles): Promise<PreparedWorkspace>;
  /**
   * Creates the workspace at `commit` before its attempt exists. `prepare` then only moves it to its start. Changes nothing
   * if the workspace exists. Returns its `path`, or null if none is made ahead.
   */
  prepareAhead(cwd: string, key: WorkspaceKey, commit: string): Promise<string | null>;
  /** Lists the files that an agent in the sandbox needs to work in the workspace, which must exist. */
  access(cwd: string, key: WorkspaceKey): Promise<SandboxPaths>;
  /**
   * Moves a workspace to another commit. Its previous content stays reachable below refs/tutti, unless `discard` says that
   * no agent made the changes since the last commit.
   */
  move(cwd: string, key: WorkspaceKey, to: string, options?: { discard: boolean }): Promise<void>;
  /**
   * Commits all files of the workspace on top of `start`, after the agent's own commits if there are any. `snapshot`
   * returns `start` if nothing changed, and the last snapshot if the workspace has been removed. With `scope`, changes
   * elsewhere are left out.
   */
  snapshot(
    cwd: string,
    key: WorkspaceKey,
    start: string,
    message: string,
    scope?: readonly string[],
  ): Promise<WorkspaceSnapshot>;
  /**
   * Each of `claimed` is relative to the repository's root or to the agent's folder, or an absolute path in the
   * workspace. A folder counts as changed if a file in it is.
   */
  findUnproven(
    cwd: string,
    key: WorkspaceKey,
    snapshot: WorkspaceSnapshot,
    claimed: readonly string[],
  ): Promise<UnprovenFiles>;
  /**
   * Commits the current files to the attempt's ref with the suffix `-saved`, until the `snapshot` is taken. Returns
   * null if they equal those of `start`.
   */
  saveWork(cwd: string, key: WorkspaceKey, start: string, message: string): Promise<string | null>;
  treeOf(cwd: string, commit: string): Promise<string>;
  /**
   * Reuses the files of an earlier `result` as the snapshot of an attempt that starts at `start`; needs no workspace.
   * Returns null if the repository no longer has `result`.
   */
  adopt(
    cwd: string,
    key: WorkspaceKey,
    start: string,
    result: string,
    message: string,
  ): Promise<WorkspaceSnapshot | null>;
  /**
   * Creates the run's branch at `head`, which the log recorded, or puts it back there. Returns where something else had
   * moved it. `pending` are merges that the log may not contain yet after a crash; they are no reason for a report.
   */
  openBranch(cwd: string, runId: string, head: string, pending?: readonly PendingMerge[]): Promise<MovedRef | null>;
  /**
   * Merges a commit into the run's branch, always as a merge commit with `message`, onto `head`, which the log recorded.
   * A branch that something else has moved is put back first. A conflict leaves the branch at `head`, unless `favour` is
   * given: then the conflicting hunks of a file are taken from that side, and files without hunks, deletions included,
   * whole. Rejects while the user has the branch checked out.
   */
  integrate(cwd: string, runId: string, head: string, merge: PendingMerge): Promise<Integration>;
  /** Reads the user's refs and settings. `changes` is null if `before` is null or equal. */
  changesSince(
    cwd: string,
    before: RepositoryState | null,
  ): Promise<{ state: RepositoryState; changes: RepositoryChanges | null }>;
  changedFiles(cwd: string, from: string, to: string): Promise<string[]>;
  /** Returns null if `path` is not in `commit`, is no text or is longer than most source files. */
  readText(cwd: string, commit: string, path: string): Promise<string | null>;
  /**
   * Compares two revisions. Returns null if one of them does not exist. With `resultOf`, `head` is the result of that
   * run, and commits of the user on the run's branch count too.
   */
  diff(
    cwd: string,
    base: string,
    head: string,
    options?: DiffOptions & { resultOf?: string | undefined },
  ): Promise<ResultDiff | null>;
  /**
   * Merges the run's branch into the branch that is checked out in `cwd`. `head` is the result that the log recorded.
   * `mergeResult` throws `wrong_state` and changes nothing on uncommitted changes, a conflict or untracked files in the
   * way. `git` is the command line for the repository, if it is not just `git`.
   */
  mergeResult(
    cwd: string,
    runId: string,
    head: string,
    options: MergeOptions,
  ): Promise<MergedResult & { git?: string }>;
  /**
   * Returns the tip of the run's branch if it contains `head`, else `head`. `findResult` returns null if the repository
   * does not have `head`.
   */
  findResult(cwd: string, runId: string, head: string): Promise<string | null>;
  /**
   * Removes the run's branch and returns its commit, which stays reachable, as do the refs of attempts. `dropBranch`
   * returns null if there is no branch.
   */
  dropBranch(cwd: string, runId: string): Promise<string | null>;
  /** Lets `tutti gc` free the kept work of a removed run, or frees it at once. The run's branch stays. */
  forget(cwd: string, runId: string, options: { free: boolean }): Promise<void>;
  /** Commits the content to refs/tutti, then removes the workspace. A missing workspace is not an error. */
  remove(cwd: string, key: WorkspaceKey): Promise<void>;
  /**
   * Removes every remaining workspace of the run. With `recorded`, also puts back the run's branch and
   * the refs of its attempts, and returns those that something else had moved.
   */
  release(cwd: string, runId: string, recorded?: RecordedRefs): Promise<MovedRef[]>;
  /** Resolves when no git process of Tutti is left in any repository. */
  close(): Promise<void>;
}
