// What writing a file to last takes, wherever it is done: the content and the name reach the disk, and a failure says why.
// And for what is not written to last: how to tell whether the machine was restarted since.
import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
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

/** Makes a folder, with those above it that are missing, so that their names last. */
export function makeFolderDurably(folder: string, mode = 0o777): void {
  const whole = resolve(folder);
  const first = mkdirSync(whole, { recursive: true, mode });
  if (first === undefined) return;
  for (let made = whole; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/**
 * Another one after every start of the machine. Files that were not written to last can be trusted as long as it is the
 * same. Empty where a system tells nothing of the kind.
 */
export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Makes a name, a new one of it or its absence durable. Systems that cannot open a folder need no such thing. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
