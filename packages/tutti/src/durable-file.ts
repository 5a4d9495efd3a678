// Durable writes: a file's content and its name are synced to disk. `bootId` detects a restart of the machine, for
// files that are not synced.
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { TuttiError } from "./schema/error.ts";

/** Writes and syncs a new file. `mode` is the mode of the file that it will replace, which must not change. */
export function writeDurably(file: string, content: string | Uint8Array, mode: number | undefined): void {
  const fd = openSync(file, "wx", (mode ?? 0o644) & 0o777);
  try {
    if (mode !== undefined) fchmodSync(fd, mode & 0o777);
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces `file`, or creates it: after a crash it has either its old content or the new one. */
export function replaceDurably(file: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${file}.${process.pid}.new`;
  rmSync(temporary, { force: true });
  writeDurably(temporary, content, mode);
  renameSync(temporary, file);
  syncFolder(dirname(file));
}

/** Removes a file if it exists. The error of `rmSync` on a read-only disk has no code, so `unlinkSync` is used. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const UNWRITABLE: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES"]);

/** Whether the same write may succeed later: the disk is full or read-only, or the permissions do not allow it. */
export const isUnwritable = (error: unknown): boolean => UNWRITABLE.has((error as { code?: unknown } | null)?.code);

/** The result of `work`, or `otherwise` if the disk does not allow it for now. Throws every other error. */
export function whenAccessible<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return otherwise;
  }
}

/** False if `work` cannot write for now. */
export const tryToWrite = (work: () => void): boolean =>
  whenAccessible(() => {
    work();
    return true;
  }, false);

/** Waits for `work`, which the disk may not allow for now. */
export async function ignoreUnwritable(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

/** Turns an error of a write into a `TuttiError` that begins with `problem`. */
export function asDiskError(error: unknown, problem: string): TuttiError {
  if (error instanceof TuttiError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT" || /disk is full/.test(message);
  if (full)
    return new TuttiError("disk_full", `${problem}: the disk is full. Free some space and try again.`, {
      cause: error,
    });
  return new TuttiError("storage_failed", `${problem}: ${message}. Check its permissions and the disk.`, {
    cause: error,
  });
}

/** Creates `folder` and its missing parents, and syncs their names. */
export function makeFolderDurably(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    makeFolder(each, mode);
    syncFolder(dirname(each));
  }
}

/** Not recursive: `mkdirSync` would report a read-only disk as ENOENT. Another process may have created the folder. */
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Whether facts about the system come from `/proc`. `TUTTI_PROCESS_TABLE=ps` avoids it on Linux too, so that the tests
 * also run the code for other systems.
 */
export const hasProc = (): boolean => process.platform === "linux" && process.env["TUTTI_PROCESS_TABLE"] !== "ps";

/**
 * Changes with every start of the machine. Unsynced files are valid as long as it is the same. Empty on systems without
 * a boot id.
 */
export function bootId(): string {
  if (!hasProc()) return "";
  return (ownBoot ??= readBootId());
}

/** No process outlives a boot. */
let ownBoot: string | null = null;

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Syncs the names in `folder` after a create, rename or delete. Windows cannot open a folder and needs no sync. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
