// What writing a file to last takes, wherever it is done: the content and the name reach the disk, and a failure says why.
import { closeSync, fchmodSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { TuttiError } from "./schema/error.ts";

/** A new file. Who may read it is taken from the file it will replace; that is not ours to change. */
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
