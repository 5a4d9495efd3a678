// Makes what git has written outlive a power cut. Git syncs contents at best, and never the folders that hold the names
// of objects and refs; and what an agent's own git has written is not synced at all.
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import type { RunPlace } from "./place.ts";
import { onRepository } from "./repository.ts";
import type { Repository } from "./repository.ts";

/** So many files are handed to the disk at once; it then writes them together. */
const AT_ONCE = 16;

/**
 * Returns when the commit and everything behind it is on the disk, but for what `held` is known to hold there: commits,
 * or options that name some.
 */
export async function hardenCommit(repository: Repository, commit: string, held: readonly string[]): Promise<void> {
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
  // Git syncs packs by itself, so what is not there as a file of its own is safe.
  await syncAll(files);
  await syncAll([...folders]);
}

/**
 * Git writes no object whose name is there, so one that a power cut left in pieces becomes part of whatever has the same
 * content. It only says so.
 */
function refuseDamaged(stderr: string, objects: string): void {
  const [, id] = /hash mismatch ([0-9a-f]+)/.exec(stderr) ?? [];
  if (id === undefined) return;
  const file = join(objects, id.slice(0, 2), id.slice(2));
  throw new TuttiError("git_failed", `The object ${id} is damaged, perhaps by a power cut; remove ${file}.`);
}

/** Returns when a ref that was just written is on the disk. */
export async function hardenRef({ commonDir }: Repository, ref: string): Promise<void> {
  await syncAll([...foldersOf(ref, commonDir), join(commonDir, "reftable"), commonDir]);
}

/** Returns when no power cut can bring back what was removed of a run: its folder, git's entries, the agents' branches. */
export async function hardenRemoval({ commonDir }: Repository, { folder, branchPrefix }: RunPlace): Promise<void> {
  const folders = [...foldersOf(`${branchPrefix}any/1`, commonDir), folder, join(commonDir, "worktrees")];
  await syncAll([...folders, join(commonDir, "reftable"), commonDir]);
}

/** The folders in which a ref lies, the innermost first. */
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
