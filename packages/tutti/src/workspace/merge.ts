// Merges objects without a checkout, an index or a hook. The result depends only on the input, including its date, so a
// repeat after a crash gives the same commit.
import { TuttiError } from "../schema/error.ts";
import { runBranch } from "../schema/ids.ts";
import { items, text } from "./git.ts";
import { hardenCommit } from "./harden.ts";
import { isInside, type RunPaths } from "./workspace-paths.ts";
import { readRef, writeRef } from "./refs.ts";
import { checkoutsOf } from "./registry.ts";
import { commitOf, commitTree, isAncestor, newestDate, onRepository, type Repository } from "./repository.ts";
import { settleTree } from "./settle.ts";
import type { Favour, Integration, Merge } from "./workspace.ts";

/** Number of attempts of `integrate` while the user moves the run's branch. */
const TRIES = 3;

/** The run's branch is always "ours" in a merge. */
const SIDES = { first: "ours", last: "theirs" } as const;

export async function combine(
  repository: Repository,
  base: string,
  commits: readonly string[],
  message: string,
): Promise<Merge> {
  let head = await commitOf(repository, base);
  for (const revision of commits) {
    const commit = await commitOf(repository, revision);
    if (await isAncestor(repository, commit, head)) continue;
    if (await isAncestor(repository, head, commit)) {
      head = commit;
      continue;
    }
    const merged = await mergeTwo(repository, head, commit, message);
    if (!merged.ok) return merged;
    await hardenCommit(repository, merged.commit, [head, commit]);
    head = merged.commit;
  }
  return { ok: true, commit: head };
}

export async function openBranch(repository: Repository, runId: string, base: string): Promise<string> {
  const ref = `refs/heads/${runBranch(runId)}`;
  const existing = await readRef(repository, ref);
  const commit = existing ?? (await commitOf(repository, base));
  // The user's own history is not Tutti's to sync, so `held` is the commit itself.
  await writeRef(repository, ref, commit, existing, [commit]);
  return commit;
}

/** Always creates a merge commit with `message`, so that the first parents of the run's branch record the order. */
export async function integrate(
  repository: Repository,
  run: RunPaths,
  runId: string,
  revision: string,
  message: string,
  favour?: Favour,
): Promise<Integration> {
  const branch = runBranch(runId);
  const ref = `refs/heads/${branch}`;
  const commit = await commitOf(repository, revision);
  for (let attempt = 1; ; attempt++) {
    const head = await readRef(repository, ref);
    if (head === null)
      throw new TuttiError("git_failed", `The branch "${branch}" does not exist. It must be opened first.`);
    if (await isAncestor(repository, commit, head)) {
      await writeRef(repository, ref, head, head);
      return { ok: true, commit: head, settled: [] };
    }
    await refuseCheckedOut(repository, run, branch);
    const clean = await mergeTwo(repository, head, commit, message);
    const merged = clean.ok || !favour ? clean : await settleTwo(repository, run, head, commit, message, favour);
    if (!merged.ok) return merged;
    try {
      await writeRef(repository, ref, merged.commit, head);
      return { settled: [], ...merged };
    } catch (error) {
      if (attempt === TRIES || (await readRef(repository, ref)) === head) throw error;
    }
  }
}

/**
 * Moving a branch that is checked out makes everything merged look deleted there. Agents' own worktrees do not count.
 */
async function refuseCheckedOut(repository: Repository, run: RunPaths, branch: string): Promise<void> {
  const folders = await checkoutsOf(repository, `refs/heads/${branch}`);
  const userFolders = folders.filter((folder) => !isInside(run.runFolder, folder));
  if (userFolders.length === 0) return;
  const advice = "Check out another branch there, then try again.";
  throw new TuttiError(
    "git_failed",
    `The branch "${branch}" is checked out in ${userFolders.join(" and ")}. ${advice}`,
  );
}

async function mergeTwo(repository: Repository, ours: string, theirs: string, message: string): Promise<Merge> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const { code, stdout } = await onRepository(repository, `merge ${theirs}`, args, { accept: [1] });
  const [tree = "", ...conflicts] = items(stdout);
  if (code === 1) return { ok: false, files: [...new Set(conflicts.map(text))].sort() };
  return { ok: true, commit: await commitMerge(repository, tree, [ours, theirs], message) };
}

async function settleTwo(
  repository: Repository,
  run: RunPaths,
  ours: string,
  theirs: string,
  message: string,
  favour: Favour,
): Promise<Integration> {
  const { tree, files } = await settleTree(repository, run, { ours, theirs, favoured: SIDES[favour] });
  return { ok: true, commit: await commitMerge(repository, tree, [ours, theirs], message), settled: files };
}

async function commitMerge(
  repository: Repository,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const date = await newestDate(repository, parents);
  return commitTree(repository, { tree, parents, message, date });
}
