// Removes workspaces. Their content is made reachable first. Afterwards `verifyRemoved` checks the result: an exit code
// 0 of git that left the folder or the registration behind is an error.
import { readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { deleteFolder, exists, isFolder } from "./folder.ts";
import { hardenRemoval } from "./harden.ts";
import { isInside, leafWithin, pathsOfLeaf, type WorkspacePaths, type RunPaths } from "./workspace-paths.ts";
import { clearWay, deleteRef, hasRef, keepReachable, listRefs, readRef, shortHash } from "./refs.ts";
import { checkoutsOf, deregister, headLogOf, headOf, registrations, type Registration } from "./registry.ts";
import { findCommit, isNearAncestor, newestDate, onRepository, treeOf, type Repository } from "./repository.ts";
import { writeCommit } from "./disk/write-commit.ts";
import { treeOfWorkspace } from "./snapshot.ts";
import { clearScratch, forgetTree } from "./working-tree.ts";

/** `removeWorkspace` also cleans up a workspace that was never completed. */
export async function removeWorkspace(repository: Repository, run: RunPaths, paths: WorkspacePaths): Promise<void> {
  const worktrees = await registrations(repository);
  const inside = worktrees.filter(({ path }) => path !== null && isInside(paths.path, path));
  const registration = worktrees.find(({ path }) => path === paths.path);
  // No agent has worked in a workspace that was made ahead.
  if (!(await exists(paths.ahead))) {
    // `inside` are worktrees that the agent created in its workspace. They are deleted with it, and their branches
    // perhaps later.
    for (const nested of inside)
      await keepWork(repository, run, { ...paths, path: nested.path ?? "" }, worktrees, nested);
    await keepWork(repository, run, paths, worktrees, registration);
  }
  forgetTree(paths.path);
  await deleteFolder(paths.path, paths.runFolder, [repository.root, repository.commonDir]);
  const half = worktrees.filter((entry) => isHalfMade(entry, paths));
  for (const entry of [...inside, ...half, ...(registration ? [registration] : [])])
    await deregister(repository, entry);
  for (const file of [paths.index, paths.indexedCommit, paths.boot, paths.sparse, paths.ahead])
    await rm(file, { force: true });
  await clearScratch(paths.scratchIndex);
  await verifyRemoved(repository, paths);
}

/** Whether git was killed after it had reserved an entry with the folder's name and before it had recorded the path. */
function isHalfMade(entry: Registration, paths: WorkspacePaths): boolean {
  const leaf = paths.path.slice(paths.runFolder.length + 1);
  return entry.path === null && entry.id.startsWith(leaf) && /^\d*$/.test(entry.id.slice(leaf.length));
}

/**
 * Makes the files and the HEAD of a workspace reachable unless another ref holds them. A nested worktree has the
 * `paths` of its workspace, but its own `path`.
 */
async function keepWork(
  repository: Repository,
  run: RunPaths,
  paths: WorkspacePaths,
  worktrees: readonly Registration[],
  registration: Registration | undefined,
): Promise<void> {
  const head = registration ? await headOf(repository, registration) : null;
  const snapshotCommit = await readRef(repository, paths.ref);
  const start = snapshotCommit && (await findCommit(repository, `${snapshotCommit}^`));
  const isHeld = (commit: string | null): boolean => commit === null || commit === snapshotCommit || commit === start;
  // Usually `snapshotCommit` has all files, and the agent has made no commit after it.
  const isNested = dirname(paths.path) !== paths.runFolder;
  const base = (isNested || !isHeld(head) ? null : snapshotCommit) ?? head;
  const present = await isFolder(paths.path);
  const loose = present ? await commitLoose(repository, paths, worktrees, base) : null;
  const known = [head, snapshotCommit, start].filter((commit) => commit !== null);
  const left = registration ? await leftCommits(repository, registration, known) : [];
  for (const commit of new Set([loose, head, ...left])) {
    if (commit === null || isHeld(commit)) continue;
    const free = (await readRef(repository, paths.ref)) === null;
    const ref = free ? paths.ref : `${paths.ref}-left-${shortHash(commit)}`;
    await keepReachable(repository, commit, ref, run.oldBranchPrefix);
  }
}

/** Returns commits that the agent's HEAD was at, for example before a reset, and that `known` ones do not contain. */
async function leftCommits(
  repository: Repository,
  registration: Registration,
  known: readonly string[],
): Promise<string[]> {
  const visited: string[] = [];
  for (const commit of headLogOf(registration)) {
    const near = known.map((descendant) => isNearAncestor(repository, commit, descendant));
    if (!(await Promise.all(near)).includes(true)) visited.push(commit);
  }
  if (visited.length === 0) return [];
  // `--ignore-missing` skips hashes that the agent has invented in its log.
  const args = ["rev-list", "--ignore-missing", ...visited, "--not", ...known];
  const { stdout } = await onRepository(repository, "find commits that an agent has left", args);
  const unknown = new Set(stdout.split("\n"));
  return visited.filter((commit) => unknown.has(commit));
}

/** Commits the files that differ from `base`. `commitLoose` returns null if nothing differs. */
export async function commitLoose(
  repository: Repository,
  paths: WorkspacePaths,
  worktrees: readonly Registration[],
  base: string | null,
): Promise<string | null> {
  const tree = await treeOfWorkspace(repository, paths, worktrees, base);
  const baseTree = base ?? (await emptyTree(repository));
  if (tree === (base === null ? baseTree : await treeOf(repository, base))) return null;
  // In a workspace that was never completed, which has no `paths.index`, missing files come from an interrupted
  // checkout.
  const flags = ["-r", "--quiet", "--no-renames", "--no-ext-diff", "--diff-filter=d", baseTree, tree];
  const compared = await onRepository(repository, "compare two trees", ["diff-tree", ...flags], { accept: [1] });
  if (compared.code === 0 && !(await exists(paths.index))) return null;
  const parents = base === null ? [] : [base];
  const date = base === null ? 0 : await newestDate(repository, parents);
  return writeCommit(repository, { tree, parents, message: "Kept by Tutti: found in the workspace", date });
}

async function emptyTree(repository: Repository): Promise<string> {
  const args = ["hash-object", "-w", "-t", "tree", "--stdin"];
  return (await onRepository(repository, "write an empty tree", args)).stdout.trim();
}

/** Keeps a branch that the user has checked out. */
async function deleteBranch(repository: Repository, ref: string): Promise<void> {
  await clearWay(repository, ref);
  if (!(await hasRef(repository, ref))) return;
  if ((await checkoutsOf(repository, ref)).length === 0) await deleteRef(repository, ref);
}

async function verifyRemoved(repository: Repository, { path }: WorkspacePaths): Promise<void> {
  const left: string[] = [];
  if (await exists(path)) left.push("its folder");
  if ((await registrations(repository)).some((entry) => entry.path === path)) left.push("its entry in git's list");
  if (left.length === 0) return;
  throw new TuttiError(
    "workspace_failed",
    `The workspace "${path}" was removed, but ${left.join(" and ")} still exists. Check the folder's permissions.`,
  );
}

/** Finds workspaces by the run's folder and by git's list, and removes the branches below `oldBranchPrefix`. */
export async function releaseRun(repository: Repository, run: RunPaths): Promise<void> {
  const registered = (await registrations(repository)).flatMap(
    ({ path }) => leafWithin(run.runFolder, path ?? "") ?? [],
  );
  const entries = await readdir(run.runFolder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  for (const leaf of new Set([...registered, ...folders]))
    await removeWorkspace(repository, run, pathsOfLeaf(run, leaf));
  for (const ref of await listRefs(repository, run.oldBranchPrefix)) {
    const tip = await readRef(repository, ref);
    if (tip !== null) await keepReachable(repository, tip, `${run.refPrefix}branch/${tip}`, run.oldBranchPrefix);
    await deleteBranch(repository, ref);
  }
  await deleteFolder(run.runFolder, dirname(run.runFolder), [repository.root, repository.commonDir]);
  if (await exists(run.runFolder)) {
    throw new TuttiError(
      "workspace_failed",
      `The folder "${run.runFolder}" was deleted but still exists. Delete it yourself.`,
    );
  }
  await hardenRemoval(repository, run);
}
