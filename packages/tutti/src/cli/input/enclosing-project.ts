import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The nearest folder with `.git`, from `folder` upwards, else `folder` itself, in which the engine starts no run. */
export function enclosingProject(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}
