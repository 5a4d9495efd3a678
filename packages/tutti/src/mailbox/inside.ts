// Agents work in the project folder and can create links there. `insideMailbox` lets nothing be read or written through
// a link that leaves its folder.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";
import { MAILBOX_FOLDER } from "./layout.ts";

/** Returns the real path; the file need not exist. Throws if `path` leaves the folder of the mailbox. */
export function insideMailbox(project: string, path: string): string {
  const root = realPath(project);
  const folder = realPath(join(project, MAILBOX_FOLDER));
  if (!isWithin(root, folder)) throw outsideMailbox(join(project, MAILBOX_FOLDER), folder);
  const real = realPath(path);
  if (!isWithin(folder, real)) throw outsideMailbox(path, real);
  return real;
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

function outsideMailbox(path: string, real: string): TuttiError {
  return new TuttiError("wrong_state", `${path} is a link to ${real}, which is outside the mailbox. Remove the link.`);
}

/** Resolves the links in the part of `path` that exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw notUsable(path, error);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // Creating the file would follow a dangling link.
    if (stats?.isSymbolicLink() && !existsSync(path))
      throw new TuttiError("wrong_state", `${path} is a link to a file that does not exist. Remove the link.`, {
        cause: error,
      });
    // Another process has created `path` in the meantime.
    if (stats !== undefined) return realPath(path);
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

function notUsable(path: string, error: unknown): TuttiError {
  return new TuttiError("storage_failed", `${path} cannot be used: ${(error as Error).message}. Check the path.`, {
    cause: error,
  });
}
