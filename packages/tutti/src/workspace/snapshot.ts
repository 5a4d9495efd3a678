// Commits the files of a workspace, regardless of the agent's changes to its branch, index or `.git` file.
import { TuttiError } from "../schema/error.ts";
import { isFolder } from "./folder.ts";
import { isInside } from "./place.ts";
import type { Place } from "./place.ts";
import { deleteRef, readRef, replaceRef, writeRef } from "./refs.ts";
import { headOf, headRefOf, registrations } from "./registry.ts";
import type { Registration } from "./registry.ts";
import { changedFiles, commitTree, isAncestor, parentsOf, treeOf } from "./repository.ts";
import type { Repository } from "./repository.ts";
import { clearScratch, writeWorkingTree } from "./working-tree.ts";
import type { WorkspaceSnapshot } from "./workspace.ts";

export async function snapshot(
  repository: Repository,
  place: Place,
  start: string,
  message: string,
): Promise<WorkspaceSnapshot> {
  const commit = (await isFolder(place.path))
    ? await takeSnapshot(repository, place, start, message)
    : await readRef(repository, place.ref);
  // A workspace that was removed after its snapshot still returns that snapshot.
  if (commit === null) throw new TuttiError("workspace_failed", `The workspace "${place.path}" no longer exists.`);
  return { commit, files: await changedFiles(repository, start, commit) };
}

async function takeSnapshot(repository: Repository, place: Place, start: string, message: string): Promise<string> {
  const worktrees = await registrations(repository);
  const registration = worktrees.find(({ path }) => path === place.path);
  const parent = (registration && (await agentHead(repository, place, registration, start))) ?? start;
  const tree = await treeOfWorkspace(repository, place, worktrees, parent);
  await clearScratch(place.scratchIndex);
  const commit = await commitFor(repository, place, { tree, parent, start, message });
  await replaceRef(repository, place.ref, commit, start);
  // The snapshot contains everything that `saveWork` has saved.
  if ((await readRef(repository, savedRef(place))) !== null) await deleteRef(repository, savedRef(place));
  return commit;
}

/** Commits the current files to a ref next to the attempt's ref. The next save or the snapshot replaces it. */
export async function saveWork(
  repository: Repository,
  place: Place,
  start: string,
  message: string,
): Promise<string | null> {
  if (!(await isFolder(place.path))) return null;
  const tree = await treeOfWorkspace(repository, place, await registrations(repository), start);
  await clearScratch(place.scratchIndex);
  if (tree === (await treeOf(repository, start))) return null;
  const last = await readRef(repository, savedRef(place));
  if (last !== null && tree === (await treeOf(repository, last))) return last;
  const commit = await commitTree(repository, { tree, parents: [start], message });
  await writeRef(repository, savedRef(place), commit, last);
  return commit;
}

const savedRef = ({ ref }: Place): string => `${ref}-saved`;

/** Writes the files of a workspace as a tree. The scratch index stays, so that the caller can continue from it. */
export function treeOfWorkspace(
  repository: Repository,
  place: Place,
  worktrees: readonly Registration[],
  base: string | null,
): Promise<string> {
  const skip = worktrees.flatMap(({ path }) => (path !== null && isInside(place.path, path) ? [path] : []));
  const { path, index, scratchIndex } = place;
  return writeWorkingTree(repository, { folder: path, index, scratchIndex, skip }, base);
}

/** Returns the agent's own HEAD if it descends from `start`. */
async function agentHead(
  repository: Repository,
  place: Place,
  registration: Registration,
  start: string,
): Promise<string | null> {
  const head = await headOf(repository, registration);
  if (head === null || !(await isAncestor(repository, start, head))) return null;
  // Tutti moves its branches without the agent, so its files would look as if they reverted the work of others.
  const ref = await headRefOf(repository, registration);
  const foreign = ref !== null && /^refs\/heads\/(?:tutti|agent)\//.test(ref) && ref !== place.branchRef;
  return foreign ? null : head;
}

async function commitFor(
  repository: Repository,
  place: Place,
  found: { tree: string; parent: string; start: string; message: string },
): Promise<string> {
  const { tree, parent, start, message } = found;
  if (tree === (await treeOf(repository, start))) return start;
  if (tree === (await treeOf(repository, parent))) return parent;
  // The same files on the same parent reuse `last`, so a repeat gives the same hash.
  const last = await readRef(repository, place.ref);
  if (last !== null && tree === (await treeOf(repository, last))) {
    const parents = await parentsOf(repository, last);
    if (parents.length === 1 && parents[0] === parent) return last;
  }
  return commitTree(repository, { tree, parents: [parent], message });
}
