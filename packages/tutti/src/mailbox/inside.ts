// Agents work in the project folder and can put links there. Nothing is read or written through one that leads out of
// the mailbox.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { MAILBOX_FOLDER } from "./layout.ts";

/** The real path of a file of the mailbox, which need not exist. Refuses what leads out of the mailbox's folder. */
export function insideMailbox(project: string, path: string): string {
  const root = realPath(project);
  const folder = realPath(join(project, MAILBOX_FOLDER));
  if (!isWithin(root, folder)) throw leadsOut(join(project, MAILBOX_FOLDER), folder);
  const real = realPath(path);
  if (!isWithin(folder, real)) throw leadsOut(path, real);
  return real;
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

function leadsOut(path: string, real: string): TuttiError {
  return new TuttiError("wrong_state", `${path} is a link that leads out of the mailbox, to ${real}`);
}

/** The path with the links of everything in it that exists resolved. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw notUsable(path, error);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // A link to nothing would be followed when the file is made.
    if (stats?.isSymbolicLink() && !existsSync(path))
      throw new TuttiError("wrong_state", `${path} is a link to something that is not there`, { cause: error });
    // Another process has made it in the meantime.
    if (stats !== undefined) return realPath(path);
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

function notUsable(path: string, error: unknown): TuttiError {
  return new TuttiError("storage_failed", `${path} cannot be used: ${(error as Error).message}`, { cause: error });
}
