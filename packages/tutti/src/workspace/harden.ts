// Makes git's writes survive a power cut. Git syncs file contents at most, never the folders that hold the names of
// objects and refs. Objects that an agent's git has written are not synced at all.
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import type { RunPaths } from "./workspace-paths.ts";
import { onRepository, type Repository } from "./repository.ts";

/** Number of files that `syncAll` syncs at the same time, so that the disk can write them together. */
const AT_ONCE = 16;

/**
 * Resolves when `commit` and its history are on disk. Skips the history of `held` (commits, or `rev-list` options that
 * select some), which is on disk already.
 */
export async function hardenCommit(repository: Repository, commit: string, held: readonly string[]): Promise<void> {
  if (held.includes(commit)) return;
  const args = ["rev-list", "--objects", "--verify-objects", "--no-object-names", commit, "--not", ...held];
  const { stdout, stderr } = await onRepository(repository, `read what is new in ${commit}`, args);
  const objects = join(repository.commonDir, "objects");
  refuseDamaged(stderr, objects);
  const files = stdout
    .split("\n")
    .filter((id) => id !== "")
    .map((id) => join(objects, id.slice(0, 2), id.slice(2)));
  if (files.length === 0) return;
  const folders = new Set([...files.map((file) => dirname(file)), join(objects, "pack"), objects]);
  // Git syncs packs itself, so an object without a file of its own is safe.
  await syncAll(files);
  await syncAll([...folders]);
}

/**
 * Throws if `rev-list` reported a hash mismatch, which is only a warning in git. Git never rewrites an existing object,
 * so an object truncated by a power cut would become part of every commit with the same content.
 */
function refuseDamaged(stderr: string, objects: string): void {
  const [, id] = /hash mismatch ([0-9a-f]+)/.exec(stderr) ?? [];
  if (id === undefined) return;
  const file = join(objects, id.slice(0, 2), id.slice(2));
  throw new TuttiError(
    "git_failed",
    `The git object ${id} is damaged, possibly by a power cut. Delete the file "${file}" and try again.`,
  );
}

/** Resolves when a ref that was just written is on disk. */
export async function hardenRef({ commonDir }: Repository, ref: string): Promise<void> {
  await syncAll([...foldersOf(ref, commonDir), join(commonDir, "reftable"), commonDir]);
}

/**
 * Syncs the removal of a run's folder, worktree entries and old branches, so that a power cut cannot restore them.
 */
export async function hardenRemoval({ commonDir }: Repository, { folder, oldBranchPrefix }: RunPaths): Promise<void> {
  const folders = [...foldersOf(`${oldBranchPrefix}any/1`, commonDir), folder, join(commonDir, "worktrees")];
  await syncAll([...folders, join(commonDir, "reftable"), commonDir]);
}

function foldersOf(ref: string, commonDir: string): string[] {
  const folders: string[] = [];
  for (let name = dirname(ref); name !== "."; name = dirname(name)) folders.push(join(commonDir, name));
  return folders;
}

async function syncAll(paths: readonly string[]): Promise<void> {
  for (let i = 0; i < paths.length; i += AT_ONCE) await Promise.all(paths.slice(i, i + AT_ONCE).map(sync));
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
