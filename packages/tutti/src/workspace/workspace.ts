// A workspace is the folder of one attempt of one session, created from the user's repository. The user's checkout,
// index, branch and files are never touched.
//
// Invariants
// 1. Every operation is idempotent: after a crash the engine repeats it and gets the same result.
// 2. Nothing is deleted that is not reachable elsewhere: work is committed to refs/tutti/RUN/NAME/ATTEMPT before its
//    folder is deleted.
// 3. Two workspaces share nothing that one could change for the other, except git's object store.

export interface RepositoryFacts {
  /** Top folder of the checkout, with symbolic links resolved. */
  root: string;
  /** Path of the run's folder below `root`; empty at the top. */
  prefix: string;
  head: string;
  /** The branch that is checked out, or null if HEAD is detached. */
  branch: string | null;
  /** Whether the user has uncommitted changes, which stay out of the run. */
  dirty: boolean;
}

/** Identifies one workspace. `name` is a task id or `main`. */
export interface WorkspaceKey {
  runId: string;
  name: string;
  attempt: number;
}

export interface WorkspaceSnapshot {
  commit: string;
  /** Paths that differ from the start commit, relative to the repository's root, sorted. */
  files: string[];
}

export type Merge = { ok: true; commit: string } | { ok: false; files: string[] };

/** The side that wins a conflict: `first` is the run's branch, `last` the new commit. */
export type Favour = "first" | "last";

/** `settled` lists the conflicting files that were taken from the favoured side, sorted. Empty after a clean merge. */
export type Integration = { ok: true; commit: string; settled: string[] } | { ok: false; files: string[] };

export interface Workspaces {
  /**
   * Throws `folder_not_found`, `not_a_repository`, `empty_repository` or `repository_unusable`. Changes nothing.
   */
  inspect(cwd: string): Promise<RepositoryFacts>;
  /**
   * Merges `commits` into `base` in this order, without a checkout. Fast-forwards if one side contains the other. The
   * same input always gives the same commit.
   */
  combine(cwd: string, base: string, commits: readonly string[], message: string): Promise<Merge>;
  /**
   * Creates the workspace at `start`, or returns the existing one untouched. `path` is the folder inside the workspace
   * that corresponds to `cwd`.
   */
  prepare(cwd: string, key: WorkspaceKey, start: string): Promise<{ path: string }>;
  /** Moves a workspace to another commit. Its previous content stays reachable below refs/tutti. */
  move(cwd: string, key: WorkspaceKey, to: string): Promise<void>;
  /**
   * Commits all files of the workspace on top of `start`, after the agent's own commits if there are any. Returns
   * `start` if nothing changed, and the last snapshot if the workspace has been removed.
   */
  snapshot(cwd: string, key: WorkspaceKey, start: string, message: string): Promise<WorkspaceSnapshot>;
  /**
   * Commits the current files to the attempt's ref with the suffix `-saved`, until the snapshot is taken. Returns null
   * if they equal those of `start`.
   */
  saveWork(cwd: string, key: WorkspaceKey, start: string, message: string): Promise<string | null>;
  /** Two commits with the same files have the same tree. */
  treeOf(cwd: string, commit: string): Promise<string>;
  /**
   * Reuses the files of an earlier result as the snapshot of an attempt that starts at `start`; needs no workspace.
   * Returns null if the repository no longer has that result.
   */
  adopt(
    cwd: string,
    key: WorkspaceKey,
    start: string,
    result: string,
    message: string,
  ): Promise<WorkspaceSnapshot | null>;
  /** Creates the run's branch at `base` unless it exists. Returns its commit. */
  openBranch(cwd: string, runId: string, base: string): Promise<string>;
  /**
   * Merges a commit into the run's branch, always as a merge commit with `message`. A conflict leaves the branch
   * unchanged, unless `favour` is given: then conflicting files, including deletions, are taken whole from that side.
   * Rejects while the user has the branch checked out. A repeat after a crash finds the commit merged and returns an
   * empty `settled`.
   */
  integrate(cwd: string, runId: string, commit: string, message: string, favour?: Favour): Promise<Integration>;
  changedFiles(cwd: string, from: string, to: string): Promise<string[]>;
  /** Commits the content to refs/tutti, then removes the workspace. A missing workspace is not an error. */
  remove(cwd: string, key: WorkspaceKey): Promise<void>;
  /** Removes every remaining workspace and agent branch of the run. */
  release(cwd: string, runId: string): Promise<void>;
  /** Resolves when no git process of Tutti is left in any repository. */
  close(): Promise<void>;
}
