import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Resolves the links of the part of the path that exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
