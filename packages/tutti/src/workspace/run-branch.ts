// `RunBranch` is the branch of a run and the refs of its attempts.
//
// Invariants
// 1. A merge goes onto the head that the log recorded, never onto the commit that the ref names: any process can move
//    the ref.
// 2. A ref that something else moved is put back and reported. The commit found there stays reachable.
// 3. After a crash the ref may be ahead of the log. Such a ref is put back without a report, and the merges are
//    repeated.
import { TuttiError } from "../schema/error.ts";
import { attemptRef, runBranch } from "../schema/ids.ts";
import type { MovedRef } from "../schema/outcome.ts";
import { mergeOne } from "./merging/merge.ts";
import { listCommits, readRef, shortHash, writeRef } from "./refs.ts";
import { checkoutsOf } from "./registry.ts";
import { commitOf, findCommit, isAncestor, parentsOf, type Repository } from "./repository.ts";
import { isInside, type RunPaths } from "./workspace-paths.ts";
import type { Integration, PendingMerge, RecordedRefs } from "./workspace.ts";

/** Number of attempts of `integrate` while something else moves the run's branch. */
const TRIES = 3;

export class RunBranch {
  /** Maps each `#key` to the last commit that this process wrote to the run's branch. */
  static readonly #written = new Map<string, string>();
  readonly #repository: Repository;
  readonly #run: RunPaths;
  readonly #runId: string;
  readonly #branch: string;
  readonly #ref: string;

  constructor(repository: Repository, run: RunPaths, runId: string) {
    this.#repository = repository;
    this.#run = run;
    this.#runId = runId;
    this.#branch = runBranch(runId);
    this.#ref = `refs/heads/${this.#branch}`;
  }

  get #key(): string {
    return `${this.#repository.commonDir}\0${this.#ref}`;
  }

  /** Creates the branch at `base`, or puts it back there. `pending` are the merges that may be missing in the log. */
  async open(base: string, pending: readonly PendingMerge[]): Promise<MovedRef | null> {
    const head = await commitOf(this.#repository, base);
    const found = await readRef(this.#repository, this.#ref);
    if (found === null || found === head) {
      RunBranch.#written.set(this.#key, head);
      // The user's own history is not Tutti's to sync, so `writeRef` gets the commit itself as `held`.
      await writeRef(this.#repository, this.#ref, head, found, [head]);
      return null;
    }
    if (await this.#isOwnWork(head, found, pending)) RunBranch.#written.set(this.#key, found);
    await this.#refuseCheckedOut();
    return this.#putBack(head, found);
  }

  /** Always creates a merge commit with `message`, so that the first parents of the branch record the order. */
  async integrate(onto: string, { commit: revision, message, favour }: PendingMerge): Promise<Integration> {
    const repository = this.#repository;
    const head = await commitOf(repository, onto);
    const commit = await commitOf(repository, revision);
    if ((await readRef(repository, this.#ref)) === null && !RunBranch.#written.has(this.#key)) {
      const advice = "It must be opened first.";
      throw new TuttiError("git_failed", `The branch "${this.#branch}" does not exist. ${advice}`);
    }
    const isMerged = await isAncestor(repository, commit, head);
    let merged: Awaited<ReturnType<typeof mergeOne>> | null = null;
    let moved: MovedRef | null = null;
    for (let attempt = 1; ; attempt++) {
      const found = await readRef(repository, this.#ref);
      if (!isMerged || found !== head) await this.#refuseCheckedOut();
      if (!isMerged) merged ??= await mergeOne(repository, this.#run, head, commit, message, favour);
      try {
        if (found !== head) moved = (await this.#putBack(head, found)) ?? moved;
        if (merged?.ok === false) return { ...merged, moved };
        if (merged !== null) RunBranch.#written.set(this.#key, merged.commit);
        await writeRef(repository, this.#ref, merged?.commit ?? head, head);
        return { ok: true, commit: merged?.commit ?? head, settled: merged?.settled ?? [], moved };
      } catch (error) {
        if (attempt === TRIES || (await readRef(repository, this.#ref)) === head) throw error;
      }
    }
  }

  /**
   * Compares the branch and the refs of attempts with the log after the run has ended. `restore` only reports a branch
   * that the user has checked out: moving it would make its content look changed there.
   */
  async restore({ head: base, attempts, pending }: RecordedRefs): Promise<MovedRef[]> {
    const repository = this.#repository;
    const current = await listCommits(repository, [this.#ref, this.#run.refPrefix]);
    const head = await commitOf(repository, base);
    const found = current.get(this.#ref) ?? null;
    const reports: (MovedRef | null)[] = [];
    const wasOpened = found !== null || RunBranch.#written.has(this.#key);
    if (found !== head && wasOpened) {
      if (found !== null && (await this.#isOwnWork(head, found, pending))) RunBranch.#written.set(this.#key, found);
      const isFree = (await this.#userFolders()).length === 0;
      reports.push(
        isFree
          ? await this.#putBack(head, found)
          : { ref: this.#ref, found, recorded: head, kept: null, restored: false },
      );
    }
    for (const { name, attempt, commit } of attempts) {
      const ref = attemptRef(this.#runId, name, attempt);
      const there = current.get(ref) ?? null;
      // An imported or forked run may name a commit that this repository does not have, so `findCommit` decides.
      if (there === commit || (await findCommit(repository, commit)) === null) continue;
      const report = await this.#replace(ref, commit, there);
      // The refs of a forked run's earlier attempts belong to its source, so a missing ref is no `MovedRef`.
      if (there !== null) reports.push(report);
    }
    RunBranch.#written.delete(this.#key);
    return reports.filter((report) => report !== null);
  }

  /** Returns no `MovedRef` if this process itself wrote `found`: the log did not accept the merge. */
  async #putBack(head: string, found: string | null): Promise<MovedRef | null> {
    const isOwn = found !== null && RunBranch.#written.get(this.#key) === found;
    if (!isOwn) return this.#replace(this.#ref, head, found);
    await writeRef(this.#repository, this.#ref, head, found, [head]);
    return null;
  }

  async #replace(ref: string, recorded: string, found: string | null): Promise<MovedRef> {
    const kept = found === null ? null : await this.#keep(found, recorded);
    await writeRef(this.#repository, ref, recorded, found, [recorded]);
    return { ref, found, recorded, kept, restored: true };
  }

  /** Makes a foreign commit reachable. Returns null if `recorded` contains it. */
  async #keep(found: string, recorded: string): Promise<string | null> {
    if (await isAncestor(this.#repository, found, recorded)) return null;
    const kept = `${this.#run.refPrefix}moved/${shortHash(found)}`;
    await writeRef(this.#repository, kept, found, await readRef(this.#repository, kept), [recorded]);
    return kept;
  }

  /** Returns whether `found` consists of `head` and repeatable merges of `pending` commits only. */
  async #isOwnWork(head: string, found: string, pending: readonly PendingMerge[]): Promise<boolean> {
    const merges = new Map<string | null, PendingMerge>();
    for (const merge of pending) merges.set(await findCommit(this.#repository, merge.commit), merge);
    let at = found;
    for (let left = merges.size; left > 0 && at !== head; left--) {
      const [first, second, ...more] = await parentsOf(this.#repository, at);
      const merge = second === undefined ? undefined : merges.get(second);
      if (first === undefined || second === undefined || !merge || more.length > 0) return false;
      const again = await mergeOne(this.#repository, this.#run, first, second, merge.message, merge.favour);
      if (!again.ok || again.commit !== at) return false;
      at = first;
    }
    return at === head;
  }

  /**
   * Moving a branch that is checked out makes everything merged look deleted there. Worktrees of agents do not count.
   */
  async #refuseCheckedOut(): Promise<void> {
    const folders = await this.#userFolders();
    if (folders.length === 0) return;
    const advice = "Check out another branch there, then try again.";
    throw new TuttiError(
      "git_failed",
      `The branch "${this.#branch}" is checked out in ${folders.join(" and ")}. ${advice}`,
    );
  }

  async #userFolders(): Promise<string[]> {
    const folders = await checkoutsOf(this.#repository, this.#ref);
    return folders.filter((folder) => !isInside(this.#run.runFolder, folder));
  }
}
