// Taking workspaces away. What they hold is made reachable first, and what was done is looked at afterwards: an "ok" of
// git that left the folder, the registration or the branch behind is an error.
import { readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { deleteFolder, exists, isFolder } from "./folder.ts";
import { hardenRemoval } from "./harden.ts";
import { isInside, leafWithin, place as placeAt } from "./place.ts";
import type { Place, RunPlace } from "./place.ts";
import { clearWay, deleteRef, hasRef, keepReachable, listRefs, readRef, shortHash } from "./refs.ts";
import { checkoutsOf, deregister, headOf, registrations } from "./registry.ts";
import type { Registration } from "./registry.ts";
import { commitTree, newestDate, onRepository, treeOf } from "./repository.ts";
import type { Repository } from "./repository.ts";
import { treeOfWorkspace } from "./snapshot.ts";
import { clearScratch } from "./working-tree.ts";

/** Also clears away what is left of a workspace that was never finished. */
export async function removeWorkspace(repository: Repository, run: RunPlace, place: Place): Promise<void> {
  const known = await registrations(repository);
  const inside = known.filter(({ path }) => path !== null && isInside(place.path, path));
  const own = known.find(({ path }) => path === place.path);
  // The agent's own worktrees inside its workspace go with it, and so may their branches later.
  for (const nested of inside) await keepWork(repository, run, { ...place, path: nested.path ?? "" }, known, nested);
  await keepWork(repository, run, place, known, own);
  await deleteFolder(place.path, place.runFolder, [repository.root, repository.commonDir]);
  const half = known.filter((entry) => isHalfMade(entry, place));
  for (const entry of [...inside, ...half, ...(own ? [own] : [])]) await deregister(repository, entry);
  for (const file of [place.index, place.boot]) await rm(file, { force: true });
  await clearScratch(place.scratchIndex);
  const wasThere = await deleteBranch(repository, place.branchRef);
  await verifyRemoved(repository, place, wasThere);
}

/** Git was killed after it had reserved a name like the folder's and before it had written down the folder. */
function isHalfMade(entry: Registration, place: Place): boolean {
  const leaf = place.path.slice(place.runFolder.length + 1);
  return entry.path === null && entry.id.startsWith(leaf) && /^\d*$/.test(entry.id.slice(leaf.length));
}

/** Makes the files, the HEAD and the branch of a workspace reachable, as far as nothing else holds them. */
async function keepWork(
  repository: Repository,
  run: RunPlace,
  place: Place,
  known: readonly Registration[],
  own: Registration | undefined,
): Promise<void> {
  const head = own ? await headOf(repository, own) : null;
  const tip = await readRef(repository, place.branchRef);
  const taken = await readRef(repository, place.ref);
  const present = await isFolder(place.path);
  const loose = present ? await commitLoose(repository, place, known, head ?? tip ?? taken, taken) : null;
  for (const commit of new Set([loose, head, tip])) {
    if (commit === null) continue;
    const free = (await readRef(repository, place.ref)) === null;
    const ref = free ? place.ref : `${place.ref}-left-${shortHash(commit)}`;
    await keepReachable(repository, commit, ref, run.branchPrefix);
  }
}

/** A commit of the files that differ from `base`, or null when there is nothing to keep, or `taken` holds these very files. */
export async function commitLoose(
  repository: Repository,
  place: Place,
  known: readonly Registration[],
  base: string | null,
  taken: string | null = null,
): Promise<string | null> {
  const tree = await treeOfWorkspace(repository, place, known, base);
  // The usual case: the snapshot of the attempt.
  if (taken !== null && tree === (await treeOf(repository, taken))) return null;
  const before = base ?? (await emptyTree(repository));
  if (tree === (base === null ? before : await treeOf(repository, base))) return null;
  // Files that are merely missing from a workspace that was never finished are an interrupted checkout, not work.
  const flags = ["-r", "--quiet", "--no-renames", "--no-ext-diff", "--diff-filter=d", before, tree];
  const compared = await onRepository(repository, "compare two trees", ["diff-tree", ...flags], { accept: [1] });
  if (compared.code === 0 && !(await exists(place.index))) return null;
  const parents = base === null ? [] : [base];
  const date = base === null ? 0 : await newestDate(repository, parents);
  return commitTree(repository, { tree, parents, message: "Kept by Tutti: found in the workspace", date });
}

async function emptyTree(repository: Repository): Promise<string> {
  const args = ["hash-object", "-w", "-t", "tree", "--stdin"];
  return (await onRepository(repository, "write an empty tree", args)).stdout.trim();
}

/** A branch that the person has checked out, to look at it perhaps, is theirs now and stays. Says whether there was one. */
async function deleteBranch(repository: Repository, ref: string): Promise<boolean> {
  await clearWay(repository, ref);
  if (!(await hasRef(repository, ref))) return false;
  if ((await checkoutsOf(repository, ref)).length === 0) await deleteRef(repository, ref);
  return true;
}

async function verifyRemoved(repository: Repository, place: Place, hadBranch: boolean): Promise<void> {
  const { path, branch, branchRef } = place;
  const left: string[] = [];
  if (await exists(path)) left.push("its folder");
  if ((await registrations(repository)).some((entry) => entry.path === path)) left.push("its entry in git's list");
  if (hadBranch && (await hasRef(repository, branchRef)) && (await checkoutsOf(repository, branchRef)).length === 0)
    left.push(`the branch ${branch}`);
  if (left.length === 0) return;
  throw new TuttiError(
    "workspace_failed",
    `The workspace ${path} was removed, but ${left.join(" and ")} is still there.`,
  );
}

/** Removes all that is left of a run, found by its folder, by git's list and by its branches. */
export async function releaseRun(repository: Repository, run: RunPlace): Promise<void> {
  const registered = (await registrations(repository)).flatMap(
    ({ path }) => leafWithin(run.runFolder, path ?? "") ?? [],
  );
  const entries = await readdir(run.runFolder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  for (const leaf of new Set([...registered, ...folders])) await removeWorkspace(repository, run, placeAt(run, leaf));
  for (const ref of await listRefs(repository, run.branchPrefix)) {
    const tip = await readRef(repository, ref);
    if (tip !== null) await keepReachable(repository, tip, `${run.refPrefix}branch/${tip}`, run.branchPrefix);
    await deleteBranch(repository, ref);
  }
  await deleteFolder(run.runFolder, dirname(run.runFolder), [repository.root, repository.commonDir]);
  if (await exists(run.runFolder)) {
    throw new TuttiError("workspace_failed", `The folder ${run.runFolder} was deleted, but is still there.`);
  }
  await hardenRemoval(repository, run);
}
