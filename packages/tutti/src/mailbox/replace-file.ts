// `replaceFile` replaces a file atomically and durably: readers see the complete old or new file, also after a crash or
// power failure. The caller must hold the lock, so a temporary file left by a killed writer can be overwritten.
import { renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asDiskError, makeFolderDurably, syncFolder, writeDurably } from "../durable-file.ts";

/** Calls `mayReplace` just before the rename. If it returns false, keeps the old file and returns false. */
export function replaceFile(
  file: string,
  content: string | Uint8Array,
  mayReplace: () => boolean = () => true,
): boolean {
  const temporary = join(dirname(file), `.${basename(file)}.tutti-new`);
  try {
    rmSync(temporary, { force: true });
    writeDurably(temporary, content, statSync(file, { throwIfNoEntry: false })?.mode);
    if (!mayReplace()) {
      rmSync(temporary, { force: true });
      return false;
    }
    renameSync(temporary, file);
    syncFolder(dirname(file));
    return true;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw asDiskError(error, `${file} cannot be written`);
  }
}

export function makeFolder(folder: string): void {
  try {
    makeFolderDurably(folder);
  } catch (error) {
    throw asDiskError(error, `${folder} cannot be created`);
  }
}
