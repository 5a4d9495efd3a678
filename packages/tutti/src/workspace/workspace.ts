// Where agents work. A workspace is a folder of its own for one attempt of one session, cut from the person's
// repository; the person's checkout, index, branch and files are never touched.
//
// Invariants
// 1. Every operation may be repeated: after a crash the engine calls it again and gets the same answer.
// 2. Nothing is deleted that is not reachable elsewhere: work is committed to refs/tutti/RUN/NAME/ATTEMPT before its
//    folder goes.
// 3. Two workspaces share nothing that one could change under the other, except git's object store.

export interface RepositoryFacts {
  /** Top folder of the checkout, with symbolic links resolved. */
  root: string;
  /** Where the run's folder lies below the root; empty at the top. */
  prefix: string;
  head: string;
  /** The checked-out branch, or null when HEAD is detached. */
  branch: string | null;
  /** Whether the person has changes that are not committed and so stay out of the run. */
  dirty: boolean;
}

/** Names one workspace: `name` is a task's id, or `main`. */
export interface WorkspaceKey {
  runId: string;
  name: string;
  attempt: number;
}

export interface Snapshot {
  commit: string;
  /** Paths that differ from where the workspace started, relative to the repository's root, sorted. */
  files: string[];
}

export type Merge = { ok: true; commit: string } | { ok: false; files: string[] };

/** Whose version of a colliding file is taken: that of the run's branch, which came first, or that of the new commit. */
export type Favour = "first" | "last";

/** `settled` names the files that collided and were taken from the favoured side, sorted; none in a clean merge. */
export type Integration = { ok: true; commit: string; settled: string[] } | { ok: false; files: string[] };

export interface Workspaces {
  /** Fails with folder_not_found, not_a_repository or empty_repository; changes nothing. */
  inspect(cwd: string): Promise<RepositoryFacts>;
  /**
   * The commit that holds `base` and all of `commits`, merged in that order without touching any checkout. No merge is
   * made where one of the two already holds the other; the same input always gives the same commit.
   */
  combine(cwd: string, base: string, commits: readonly string[], message: string): Promise<Merge>;
  /**
   * Makes the workspace at `start`, or returns the one that is there, untouched. The path is where the agent works: the
   * folder in the workspace that answers to `cwd`.
   */
  prepare(cwd: string, key: WorkspaceKey, start: string): Promise<{ path: string }>;
  /** Moves a workspace to another commit; what it held before stays reachable under refs/tutti. */
  move(cwd: string, key: WorkspaceKey, to: string): Promise<void>;
  /**
   * Commits everything found in the workspace on top of `start`, with the agent's own commits in between if it made any.
   * Without a change the commit is `start` itself. After the workspace is gone it answers with the last snapshot.
   */
  snapshot(cwd: string, key: WorkspaceKey, start: string, message: string): Promise<Snapshot>;
  /**
   * Keeps what is found in the workspace now, at the attempt's ref with `-saved` behind it, until the snapshot is taken;
   * null when it holds nothing that `start` does not.
   */
  saveWork(cwd: string, key: WorkspaceKey, start: string, message: string): Promise<string | null>;
  /** Names the files of a commit: two commits with the same files have the same tree. */
  treeOf(cwd: string, commit: string): Promise<string>;
  /**
   * Takes the files of an earlier result over as the snapshot of an attempt that starts at `start`; no workspace is
   * needed. Null if the repository no longer has that result.
   */
  adopt(cwd: string, key: WorkspaceKey, start: string, result: string, message: string): Promise<Snapshot | null>;
  /** Makes the run's branch point at `base`, unless it exists; returns where it points. */
  openBranch(cwd: string, runId: string, base: string): Promise<string>;
  /**
   * Merges a commit into the run's branch, always as a merge commit with that message; a conflict leaves the branch as it
   * was, unless one side is favoured: then the colliding files are taken whole from it, a deletion included, and the rest
   * is merged as usual. Refuses while the person has the branch checked out. Repeated after a crash it finds the commit
   * merged, and no longer tells what was settled.
   */
  integrate(cwd: string, runId: string, commit: string, message: string, favour?: Favour): Promise<Integration>;
  changedFiles(cwd: string, from: string, to: string): Promise<string[]>;
  /** Removes the workspace after taking what it holds into refs/tutti; a missing one is fine. */
  remove(cwd: string, key: WorkspaceKey): Promise<void>;
  /** Removes every workspace and every agent branch of the run that is still there. */
  release(cwd: string, runId: string): Promise<void>;
  /** Resolves when no process of ours is left in any repository. */
  close(): Promise<void>;
}
