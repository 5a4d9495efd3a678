// Writes a file at once and durably: whoever reads sees the whole old or the whole new one, also after a power cut.
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { realWorld } from "../world.ts";

interface WriteOptions {
  /** Who may read and write it; otherwise that of the file it replaces. */
  mode?: number;
  /** Refuse to take the place of a file that is there, also one that comes in this moment. */
  isNew?: boolean;
}

/** False if there is a file and it had to be new. */
export function writeWholeFile(file: string, text: string, { mode, isNew = false }: WriteOptions = {}): boolean {
  const folder = dirname(file);
  // Another process may write the same file, so the name beside it is nobody else's.
  const beside = join(folder, `.${basename(file)}.${realWorld.id(8)}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeDurably(beside, text, mode ?? statSync(file, { throwIfNoEntry: false })?.mode);
    if (!isNew) renameSync(beside, file);
    else if (!linkNew(beside, file)) return false;
    syncFolder(folder);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new TuttiError(
      code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "storage_failed",
      `${file} cannot be written: ${message}`,
      { cause: error },
    );
  } finally {
    discard(beside);
  }
}

function linkNew(beside: string, file: string): boolean {
  try {
    linkSync(beside, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** What went wrong before is worth more than that the rest of it cannot be taken away. */
function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}

export function removeFile(file: string): void {
  try {
    rmSync(file, { force: true });
    syncFolder(dirname(file));
  } catch (error) {
    throw new TuttiError("storage_failed", `${file} cannot be removed: ${(error as Error).message}`, { cause: error });
  }
}

function writeDurably(file: string, text: string, mode: number | undefined): void {
  const fd = openSync(file, "wx", (mode ?? 0o644) & 0o777);
  try {
    if (mode !== undefined) fchmodSync(fd, mode & 0o777);
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes the name of a file durable. Systems that cannot open a folder need no such thing. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
