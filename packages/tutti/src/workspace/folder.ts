import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { isInside } from "./workspace-paths.ts";

export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

export async function exists(path: string | Buffer): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/**
 * Deletes `path` without following symbolic links in it. It must be a direct child of `parent` and must not contain any
 * of the `spared` folders.
 */
export async function deleteFolder(path: string, parent: string, spared: readonly string[]): Promise<void> {
  if (dirname(path) !== parent || spared.some((folder) => folder === path || isInside(path, folder))) {
    throw new TuttiError(
      "workspace_failed",
      `The folder "${path}" is not one that Tutti may delete. Delete it yourself if you no longer need it.`,
    );
  }
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!isDenied(error)) throw error;
    await makeAccessible(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Restores the owner's rights to read files and to change folders. Git records neither, so no diff shows it. */
export async function makeAccessible(path: string | Buffer): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.isSymbolicLink()) return;
  if (!found.isDirectory()) {
    if (found.isFile()) await chmod(path, found.mode | 0o400);
    return;
  }
  await chmod(path, found.mode | 0o700);
  for (const name of await readdir(path, { encoding: "buffer" })) await makeAccessible(childOf(path, name));
}

/** Joins bytes, because a file name need not be valid UTF-8. */
export function childOf(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
}

export function isDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return (
    code === "EACCES" || code === "EPERM" || (error instanceof TuttiError && /Permission denied/.test(error.message))
  );
}
