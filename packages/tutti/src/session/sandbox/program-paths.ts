import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";

/** A chain of more than `MAX_LINKS` symbolic links is a loop. */
const MAX_LINKS = 20;

/**
 * Returns the folders that a program needs: its own, those of the packages that it loads, and those on the PATH.
 * `isRoot` folders must not be shown as a whole.
 */
export function programPaths(command: readonly string[], path: string, isRoot: (folder: string) => boolean): string[] {
  const [program = "", ...args] = command;
  const folders = path.split(delimiter).filter(isAbsolute);
  const file = program.includes("/") ? program : folders.map((folder) => join(folder, program)).find(isFile);
  // The first file among the arguments of an interpreter is its script. Further ones may be anything.
  const script = args.find((arg) => isAbsolute(arg) && isFile(arg));
  const files = [file, script].flatMap((each) => (each !== undefined && isAbsolute(each) ? linksOf(each) : []));
  return [
    ...files.flatMap((each) => pathsOf(each, isRoot)),
    ...folders.flatMap((folder) =>
      isRoot(folder) ? [] : [folder, ...packagesIn(folder), ...librariesOf(folder, isRoot)],
    ),
  ];
}

/** `linksOf` has the file and every symbolic link on the way to it. */
function linksOf(file: string): string[] {
  const found = [file];
  for (let at = file; found.length < MAX_LINKS && lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink();) {
    at = resolve(dirname(at), readlinkSync(at));
    found.push(at);
  }
  return existsSync(file) ? [...found, realpathSync(file)] : found;
}

/** `pathsOf` has the folder of the file's package, or else its own folder, with the packages that it may load. */
function pathsOf(file: string, isRoot: (folder: string) => boolean): string[] {
  const inPackages = packagesIn(file);
  if (inPackages.length > 0) return inPackages;
  const above: string[] = [];
  for (let folder = dirname(file); !isRoot(folder); folder = dirname(folder)) above.push(folder);
  const home = above.find((folder) => existsSync(join(folder, "package.json"))) ?? above[0] ?? file;
  return [home, ...above.map((folder) => join(folder, "node_modules")).filter((folder) => existsSync(folder))];
}

/** `packagesIn` is the outermost `node_modules` that contains the path. */
function packagesIn(path: string): string[] {
  const [, packages] = /^(.*?\/node_modules)(?:\/|$)/.exec(path) ?? [];
  return packages === undefined ? [] : [packages];
}

/** Programs in `bin` often load files of the `lib` beside it. */
function librariesOf(folder: string, isRoot: (folder: string) => boolean): string[] {
  const parent = dirname(folder);
  return isRoot(parent) ? [] : ["lib", "lib64", "libexec"].map((name) => join(parent, name));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
