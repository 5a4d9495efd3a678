// Puts a new file in the place of an old one, at once and durably: whoever reads sees the whole old or the whole new
// file, and after a crash or a power cut one of the two is there. The caller holds the lock, so a file beside it that a
// killed writer left is nobody's and is overwritten.
import { renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asDiskError, makeFolderDurably, syncFolder, writeDurably } from "../durable-file.ts";

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

export function makeFolder(folder: string): void {
  try {
    makeFolderDurably(folder);
  } catch (error) {
    throw asDiskError(error, `${folder} cannot be made`);
  }
}
