// `snapshot` commits the files of a workspace, regardless of the agent's changes to its branch, index or `.git` file.
import { TuttiError } from "../schema/error.ts";
import { savedRef } from "../schema/ids.ts";
import { isFolder } from "./folder.ts";
import { isInside, type WorkspacePaths } from "./workspace-paths.ts";
import { deleteRef, readRef, replaceRef, writeRef } from "./refs.ts";
import { headOf, headRefOf, registrations, removeTraps, type Registration } from "./registry.ts";
import { changedFiles, isAncestor, parentsOf, treeOf, type Repository } from "./repository.ts";
import { writeCommit } from "./disk/write-commit.ts";
import { clearScratch, keepIndex, writeWorkingTree } from "./working-tree.ts";
import type { WorkspaceSnapshot } from "./workspace.ts";

export async function snapshot(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  message: string,
): Promise<WorkspaceSnapshot> {
  const commit = (await isFolder(paths.path))
    ? await takeSnapshot(repository, paths, start, message)
    : await readRef(repository, paths.ref);
  // After the removal of a workspace `readRef` still returns its snapshot.
  if (commit === null)
    throw new TuttiError("workspace_failed", `The workspace "${paths.path}" no longer exists. Retry its task.`);
  return { commit, files: await changedFiles(repository, start, commit) };
}

async function takeSnapshot(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  message: string,
): Promise<string> {
  const worktrees = await registrations(repository);
  const registration = worktrees.find(({ path }) => path === paths.path);
  const parent = (registration && (await agentHead(repository, registration, start))) ?? start;
  const tree = await treeOfWorkspace(repository, paths, worktrees, parent);
  const commit = await commitFor(repository, paths, { tree, parent, start, message });
  await replaceRef(repository, paths.ref, commit, start);
  // With `keepIndex` the removal of the workspace finds no difference, without reading the files again. Only after the
  // ref: its sync may find a damaged object, and then the files have to be read once more.
  await keepIndex(paths.path, paths, commit);
  // The snapshot contains everything that `saveWork` has saved.
  if ((await readRef(repository, savedRef(paths.ref))) !== null) await deleteRef(repository, savedRef(paths.ref));
  return commit;
}

/** Commits the current files to `savedRef`, until the snapshot is taken. Null if they equal those of `start`. */
export async function saveWork(
  repository: Repository,
  paths: WorkspacePaths,
  start: string,
  message: string,
): Promise<string | null> {
  if (!(await isFolder(paths.path))) return null;
  const tree = await treeOfWorkspace(repository, paths, await registrations(repository), start);
  await clearScratch(paths.scratchIndex);
  if (tree === (await treeOf(repository, start))) return null;
  const last = await readRef(repository, savedRef(paths.ref));
  if (last !== null && tree === (await treeOf(repository, last))) return last;
  const commit = await writeCommit(repository, { tree, parents: [start], message });
  await writeRef(repository, savedRef(paths.ref), commit, last);
  return commit;
}

/** Leaves out `worktrees` inside the workspace. `scratchIndex` then lists the tree, and the caller may use it. */
export async function treeOfWorkspace(
  repository: Repository,
  paths: WorkspacePaths,
  worktrees: readonly Registration[],
  base: string | null,
): Promise<string> {
  const skip = worktrees.flatMap(({ path }) => (path !== null && isInside(paths.path, path) ? [path] : []));
  const adminDir = worktrees.find(({ path }) => path === paths.path)?.adminDir;
  if (adminDir !== undefined) await removeTraps(adminDir);
  return writeWorkingTree(repository, { ...paths, adminDir, folder: paths.path, skip }, base);
}

/** Returns null unless the agent's HEAD descends from `start`. */
async function agentHead(repository: Repository, registration: Registration, start: string): Promise<string | null> {
  const head = await headOf(repository, registration);
  if (head === null || !(await isAncestor(repository, start, head))) return null;
  // Tutti moves the run's branch without the agent. On top of it, the agent's files would look as if they reverted the
  // work of others, so `start` is the parent.
  const ref = await headRefOf(repository, registration);
  return ref?.startsWith("refs/heads/tutti/") ? null : head;
}

async function commitFor(
  repository: Repository,
  paths: WorkspacePaths,
  found: { tree: string; parent: string; start: string; message: string },
): Promise<string> {
  const { tree, parent, start, message } = found;
  if (tree === (await treeOf(repository, start))) return start;
  if (tree === (await treeOf(repository, parent))) return parent;
  // The same files on the same `parent` reuse `last`, so a repeat gives the same hash.
  const last = await readRef(repository, paths.ref);
  if (last !== null && tree === (await treeOf(repository, last))) {
    const parents = await parentsOf(repository, last);
    if (parents.length === 1 && parents[0] === parent) return last;
  }
  return writeCommit(repository, { tree, parents: [parent], message });
}
