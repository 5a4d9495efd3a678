// `hardenCommit`, `hardenRef` and `hardenRemoval` make git's writes survive a power cut. Git syncs file contents at
// most, never the folders that hold the names of objects and refs. Objects that an agent's git has written are not
// synced at all.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createInflate } from "node:zlib";
import { TuttiError } from "../schema/error.ts";
import { compareTrees } from "./dialogue/tree-changes.ts";
import type { RunPaths } from "./workspace-paths.ts";
import { onRepository, readCommit, sharedPart, treeOf, type Repository } from "./repository.ts";

/** `AT_ONCE` files are read or synced in parallel, so that the disk can serve them together. */
const AT_ONCE = 16;

/**
 * Resolves when `commit` and its history are on disk. `hardenCommit` skips the history of `held` (commits, or
 * `rev-list` options that select some), which is on disk already.
 */
export async function hardenCommit(repository: Repository, commit: string, held: readonly string[]): Promise<void> {
  for (const each of held) if (!each.startsWith("--")) remember(repository, each);
  if (isOnDisk(repository, commit)) return;
  const { tree, parents } = await readCommit(repository, commit);
  const [first] = parents;
  if (first !== undefined && parents.every((parent) => isOnDisk(repository, parent))) {
    const changes = await compareTrees(await treeOf(repository, first), tree, sharedPart(repository));
    await syncObjects(repository, [commit, tree, ...changes.flatMap(({ hash }) => hash ?? [])]);
  } else await syncHistory(repository, commit, held);
  remember(repository, commit);
}

/** The keys of `onDisk` are commits that are on disk with their history. */
const onDisk = new Set<string>();
/** `MAX_ON_DISK` is more than the runs of one server need at a time. A forgotten commit is only synced again. */
const MAX_ON_DISK = 10_000;

const keyOf = ({ commonDir }: Repository, commit: string): string => `${commonDir}\0${commit}`;
const isOnDisk = (repository: Repository, commit: string): boolean => onDisk.has(keyOf(repository, commit));
function remember(repository: Repository, commit: string): void {
  if (onDisk.size >= MAX_ON_DISK) onDisk.clear();
  onDisk.add(keyOf(repository, commit));
}

/**
 * Throws if an object is damaged. An agent's git may have written it without a sync before a power cut. Git never
 * rewrites an existing object, so without `isWhole` a damaged one would become part of every commit with the same
 * content.
 */
async function syncObjects(repository: Repository, ids: readonly string[]): Promise<void> {
  await inGroups(ids, async (id) => {
    if (!(await isWhole(fileOf(repository, id), id))) throw damaged(repository, id);
  });
  await syncFiles(repository, ids);
}

const fileOf = ({ commonDir }: Repository, id: string): string =>
  join(commonDir, "objects", id.slice(0, 2), id.slice(2));

function damaged(repository: Repository, id: string): TuttiError {
  const advice = `Delete the file "${fileOf(repository, id)}" and try again.`;
  return new TuttiError("git_failed", `The git object ${id} is damaged, possibly by a power cut. ${advice}`);
}

async function syncFiles(repository: Repository, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const objects = join(repository.commonDir, "objects");
  const files = ids.map((id) => fileOf(repository, id));
  await syncAll(files);
  await syncAll([...new Set([...files.map((file) => dirname(file)), join(objects, "pack"), objects])]);
}

/** Git syncs packs itself, so `isWhole` is true for an object without a file of its own. */
async function isWhole(file: string, id: string): Promise<boolean> {
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  try {
    await pipeline(createReadStream(file), createInflate(), hash);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code.startsWith("Z_")) return false;
    throw error;
  }
  return hash.digest("hex") === id;
}

async function syncHistory(repository: Repository, commit: string, held: readonly string[]): Promise<void> {
  const args = ["rev-list", "--objects", "--verify-objects", "--no-object-names", commit, "--not", ...held];
  const { stdout, stderr } = await onRepository(repository, `read what is new in ${commit}`, args);
  const [, id] = /hash mismatch ([0-9a-f]+)/.exec(stderr) ?? [];
  if (id !== undefined) throw damaged(repository, id);
  const ids = stdout.split("\n").filter((line) => line !== "");
  await syncFiles(repository, ids);
}

/** Resolves when `ref`, which was just written, is on disk. */
export async function hardenRef({ commonDir }: Repository, ref: string): Promise<void> {
  await syncAll([...foldersOf(ref, commonDir), join(commonDir, "reftable"), commonDir]);
}

/** Syncs the removal of a run's folder, worktree entries and old branches, so that a power cut cannot restore them. */
export async function hardenRemoval({ commonDir }: Repository, { folder, oldBranchPrefix }: RunPaths): Promise<void> {
  const folders = [...foldersOf(`${oldBranchPrefix}any/1`, commonDir), folder, join(commonDir, "worktrees")];
  await syncAll([...folders, join(commonDir, "reftable"), commonDir]);
}

function foldersOf(ref: string, commonDir: string): string[] {
  const folders: string[] = [];
  for (let name = dirname(ref); name !== "."; name = dirname(name)) folders.push(join(commonDir, name));
  return folders;
}

const syncAll = (paths: readonly string[]): Promise<void> => inGroups(paths, sync);

async function inGroups<T>(list: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < list.length; i += AT_ONCE) await Promise.all(list.slice(i, i + AT_ONCE).map(work));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r").catch(orNothing);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

function orNothing(error: NodeJS.ErrnoException): FileHandle | null {
  if (error.code === "ENOENT") return null;
  throw error;
}
