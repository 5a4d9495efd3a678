// `combine` and `mergeOne` merge objects without a checkout, an index or a hook. The result depends only on the input,
// including its date, so a repeat after a crash gives the same commit.
import { items, text } from "../git.ts";
import { hardenCommit } from "../harden.ts";
import type { RunPaths } from "../workspace-paths.ts";
import {
  commitOf,
  isAncestor,
  isNearAncestor,
  newestDate,
  onRepository,
  treeOf,
  type Repository,
} from "../repository.ts";
import { writeCommit } from "../disk/write-commit.ts";
import { mergeDisjoint } from "./merge-disjoint.ts";
import { settleTree } from "./settle.ts";
import type { Favour, Merge } from "../workspace.ts";

/** The run's branch is always `ours` in a merge. */
const SIDES = { first: "ours", last: "theirs" } as const;

type SettledMerge = { ok: true; commit: string; settled: string[] } | { ok: false; files: string[] };

export async function combine(
  repository: Repository,
  run: RunPaths,
  base: string,
  commits: readonly string[],
  message: string,
  favour?: Favour,
): Promise<Merge> {
  let head = await commitOf(repository, base);
  for (const revision of commits) {
    const commit = await commitOf(repository, revision);
    if (await isAncestor(repository, commit, head)) continue;
    if (await isAncestor(repository, head, commit)) {
      head = commit;
      continue;
    }
    const merged = await mergeOne(repository, run, head, commit, message, favour);
    if (!merged.ok) return merged;
    await hardenCommit(repository, merged.commit, [head, commit]);
    head = merged.commit;
  }
  return { ok: true, commit: head };
}

/** Merges `theirs` into `ours`. With `favour`, `settleTree` takes the conflicting hunks from that side. */
export async function mergeOne(
  repository: Repository,
  run: RunPaths,
  ours: string,
  theirs: string,
  message: string,
  favour?: Favour,
): Promise<SettledMerge> {
  const clean = await mergeTwo(repository, ours, theirs, message);
  if (clean.ok) return { ...clean, settled: [] };
  return favour ? settleTwo(repository, run, ours, theirs, message, favour) : clean;
}

/** Unlike `combine`, `mergeTwo` creates a merge commit also where a fast-forward is possible. */
async function mergeTwo(repository: Repository, ours: string, theirs: string, message: string): Promise<Merge> {
  const merged = await mergeTrees(repository, ours, theirs);
  if (!merged.ok) return merged;
  return { ok: true, commit: await commitMerge(repository, merged.tree, [ours, theirs], message) };
}

type MergedTree = { ok: true; tree: string } | { ok: false; files: string[] };

export async function mergeTrees(repository: Repository, ours: string, theirs: string): Promise<MergedTree> {
  if (await isNearAncestor(repository, ours, theirs)) return { ok: true, tree: await treeOf(repository, theirs) };
  const disjoint = await mergeDisjoint(repository, ours, theirs);
  if (disjoint !== null) return { ok: true, tree: disjoint };
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const { code, stdout } = await onRepository(repository, `merge ${theirs}`, args, { accept: [1] });
  const [tree = "", ...conflicts] = items(stdout);
  if (code === 1) return { ok: false, files: [...new Set(conflicts.map(text))].sort() };
  return { ok: true, tree };
}

async function settleTwo(
  repository: Repository,
  run: RunPaths,
  ours: string,
  theirs: string,
  message: string,
  favour: Favour,
): Promise<SettledMerge> {
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
  return writeCommit(repository, { tree, parents, message, date });
}
