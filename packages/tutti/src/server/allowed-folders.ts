// Which folders of this machine requests may use. Links are followed before a place is judged, so none leads out.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { TuttiError } from "../schema/error.ts";

export interface AllowedFolders {
  /** Refuses a folder that lies outside, whether it exists or not. */
  check(folder: string): void;
}

/** Without a list every folder will do. */
export function allowedFolders(list: readonly string[] | undefined): AllowedFolders {
  if (list === undefined) return { check: () => {} };
  return {
    check(folder) {
      const real = realPlace(folder);
      // Looked at each time: a folder of the list may be a link, and may be changed.
      const isInside = list
        .map(realPlace)
        .some((allowed) => real === allowed || real.startsWith(withSeparator(allowed)));
      if (!isInside) throw new TuttiError("forbidden", `this server does not work in ${folder}`);
    },
  };
}

const withSeparator = (folder: string): string => (folder.endsWith(sep) ? folder : folder + sep);

/** Where a path leads; of one that does not exist, where the part of it that does leads. */
function realPlace(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPlace(parent), basename(absolute));
  }
}
