// `writeWholeFile` is atomic and durable: readers see the complete old or new file, also after a power failure.
import { linkSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asDiskError, makeFolderDurably, syncFolder, writeDurably } from "../../durable-file.ts";
import { realWorld } from "../../world.ts";

interface WriteOptions {
  /** Permissions of the file. Without `mode`, those of the file it replaces. */
  mode?: number;
  folderMode?: number;
  /** `isNew` never replaces an existing file, not even one created at the same moment. */
  isNew?: boolean;
}

/** Returns false if `isNew` is set and the file exists. */
export function writeWholeFile(
  file: string,
  text: string,
  { mode, folderMode, isNew = false }: WriteOptions = {},
): boolean {
  const folder = dirname(file);
  // `temporary` is unique, because another process may write the same file.
  const temporary = join(folder, `.${basename(file)}.${realWorld.id(8)}`);
  try {
    makeFolderDurably(folder, folderMode);
    writeDurably(temporary, text, mode ?? statSync(file, { throwIfNoEntry: false })?.mode);
    if (!isNew) renameSync(temporary, file);
    else if (!linkNew(temporary, file)) return false;
    syncFolder(folder);
    return true;
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
  } finally {
    discard(temporary);
  }
}

function linkNew(temporary: string, file: string): boolean {
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The original error matters more than a failure to remove the temporary file. */
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
