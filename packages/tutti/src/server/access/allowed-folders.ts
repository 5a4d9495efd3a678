// `allowedFolders` limits the folders that requests may use. Symbolic links are resolved before the check, so none
// leads out.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { TuttiError } from "../../schema/error.ts";

export interface AllowedFolders {
  /** Throws `forbidden` if `folder` is outside of the allowed ones, whether it exists or not. */
  check: (folder: string) => void;
}

/** Without a `list` every folder is allowed. */
export function allowedFolders(list: readonly string[] | undefined): AllowedFolders {
  if (list === undefined) return { check: () => {} };
  return {
    check(folder) {
      const real = resolveLinks(folder);
      // `resolveLinks` runs on every call, because an entry of `list` may be a link with a target that changes.
      const isInside = list
        .map(resolveLinks)
        .some((allowed) => real === allowed || real.startsWith(withSeparator(allowed)));
      if (!isInside) throw new TuttiError("forbidden", outside(folder));
    },
  };
}

const outside = (folder: string): string =>
  `The folder ${folder} is not allowed on this server. Use one of the folders it was started with.`;

const withSeparator = (folder: string): string => (folder.endsWith(sep) ? folder : folder + sep);

/** For a path that does not exist, `resolveLinks` resolves those of its nearest existing parent. */
function resolveLinks(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(resolveLinks(parent), basename(absolute));
  }
}
