// Commits what is found in a workspace, whatever the agent did to its branch, its index or its `.git` file.
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
import type { Snapshot } from "./workspace.ts";

export async function snapshot(
  repository: Repository,
  place: Place,
  start: string,
  message: string,
): Promise<Snapshot> {
  const commit = (await isFolder(place.path))
    ? await takeSnapshot(repository, place, start, message)
    : await readRef(repository, place.ref);
  // A workspace that was removed after its snapshot still answers with that snapshot.
  if (commit === null) throw new TuttiError("workspace_failed", `The workspace ${place.path} is gone.`);
  return { commit, files: await changedFiles(repository, start, commit) };
}

async function takeSnapshot(repository: Repository, place: Place, start: string, message: string): Promise<string> {
  const known = await registrations(repository);
  const own = known.find(({ path }) => path === place.path);
  const parent = (own && (await ownCommits(repository, place, own, start))) ?? start;
  const tree = await treeOfWorkspace(repository, place, known, parent);
  await clearScratch(place.scratchIndex);
  const commit = await commitFor(repository, place, { tree, parent, start, message });
  await replaceRef(repository, place.ref, commit, start);
  // The snapshot holds all that was saved on the way.
  if ((await readRef(repository, savedRef(place))) !== null) await deleteRef(repository, savedRef(place));
  return commit;
}

/** Keeps what lies in the workspace now beside the attempt's ref, until the next time or the attempt's own snapshot. */
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

/** What lies in a place's folder, as a tree. The scratch index stays behind for who wants to go on from it. */
export function treeOfWorkspace(
  repository: Repository,
  place: Place,
  known: readonly Registration[],
  base: string | null,
): Promise<string> {
  const skip = known.flatMap(({ path }) => (path !== null && isInside(place.path, path) ? [path] : []));
  const { path, index, scratchIndex } = place;
  return writeWorkingTree(repository, { folder: path, index, scratchIndex, skip }, base);
}

/** The commit that the agent itself has come to, when that goes on from where it started. */
async function ownCommits(
  repository: Repository,
  place: Place,
  own: Registration,
  start: string,
): Promise<string | null> {
  const head = await headOf(repository, own);
  if (head === null || !(await isAncestor(repository, start, head))) return null;
  // A branch of Tutti moves without the agent: its files would look as if they took back what others have done.
  const ref = await headRefOf(repository, own);
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
  // The same files on the same parent are the same snapshot, so that a repeat gives the same hash.
  const last = await readRef(repository, place.ref);
  if (last !== null && tree === (await treeOf(repository, last))) {
    const parents = await parentsOf(repository, last);
    if (parents.length === 1 && parents[0] === parent) return last;
  }
  return commitTree(repository, { tree, parents: [parent], message });
}
