// The files of this package: its programs, its version, its assets. A module cannot find them from its own address,
// because a build puts many modules into one file.
//
// The same program exists in up to three places: `src` in a clone, `dist` in an installed package, and `.build/KEY` in a
// clone after `npm run build`, where KEY stands for the state of the sources.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const isSource = import.meta.filename.endsWith(".ts");

/** The folder of `package.json`. */
export const packageFolder: string = ascend((folder) => existsSync(join(folder, "package.json")));

/** Set by the tests, which run the sources but start their processes from a build of the same sources. */
const build = process.env["TUTTI_BUILD"];
const programs = isSource
  ? (build ?? join(packageFolder, "src"))
  : ascend((folder) => existsSync(join(folder, "session/keeper/keeper.cjs")));

/** `name` is the path of a program below `src`, without its ending. */
export function programFile(name: string): string {
  return join(programs, `${name}${isSource && build === undefined ? ".ts" : ".cjs"}`);
}

/** Returns null if this process runs the sources, which have no files that only a build makes. */
export const builtPath = (name: string): string | null => (isSource ? null : join(programs, name));

/** `inClone` and `inPackage` are paths of the same file or folder, relative to the package. */
export function assetPath(inClone: string, inPackage: string): string {
  const path = join(packageFolder, inClone);
  return existsSync(path) ? path : join(packageFolder, inPackage);
}

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as { version: string };
  return version;
}

function ascend(isFound: (folder: string) => boolean): string {
  let folder = import.meta.dirname;
  while (!isFound(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
