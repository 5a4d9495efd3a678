// Writes a file at once and durably: whoever reads sees the whole old or the whole new one, also after a power cut.
import { linkSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asDiskError, makeFolderDurably, syncFolder, writeDurably } from "../durable-file.ts";
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
    makeFolderDurably(folder);
    writeDurably(beside, text, mode ?? statSync(file, { throwIfNoEntry: false })?.mode);
    if (!isNew) renameSync(beside, file);
    else if (!linkNew(beside, file)) return false;
    syncFolder(folder);
    return true;
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
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
    throw asDiskError(error, `${file} cannot be removed`);
  }
}
