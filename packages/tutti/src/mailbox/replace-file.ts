// Puts a new file in the place of an old one, at once and durably: whoever reads sees the whole old or the whole new
// file, and after a crash or a power cut one of the two is there. The caller holds the lock, so a file beside it that a
// killed writer left is nobody's and is overwritten.
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";

/** `before` is asked at the last moment; if it says no, nothing is replaced. */
export function replaceFile(file: string, content: string | Uint8Array, before: () => boolean = () => true): boolean {
  const beside = join(dirname(file), `.${basename(file)}.tutti-new`);
  try {
    rmSync(beside, { force: true });
    writeDurably(beside, content, statSync(file, { throwIfNoEntry: false })?.mode);
    if (!before()) {
      rmSync(beside, { force: true });
      return false;
    }
    renameSync(beside, file);
    syncFolder(dirname(file));
    return true;
  } catch (error) {
    rmSync(beside, { force: true });
    throw asDiskError(error, `${file} cannot be written`);
  }
}

function writeDurably(file: string, content: string | Uint8Array, mode: number | undefined): void {
  const fd = openSync(file, "wx", 0o644);
  try {
    // The file belongs to the project; who may read it is not ours to change.
    if (mode !== undefined) fchmodSync(fd, mode & 0o777);
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw asDiskError(error, `${folder} cannot be made`);
  }
}

/** What a failed write means to a person. */
export function asDiskError(error: unknown, what: string): TuttiError {
  if (error instanceof TuttiError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT" || /disk is full/.test(message);
  if (full) return new TuttiError("disk_full", `${what}: the disk is full`, { cause: error });
  return new TuttiError("storage_failed", `${what}: ${message}`, { cause: error });
}

/** Makes a rename durable. Systems that cannot open a folder need no such thing. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
