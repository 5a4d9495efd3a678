// Checks that `npm ci` accepts the lock file on every platform, and that the file names no machine.
//
// 1. No `resolved` address: the integrity identifies a package, and a registry's host does not belong here.
// 2. No install scripts: installing this repository runs no foreign code.
// 3. Every optional dependency of a package is in the lock with its integrity. npm omits binaries for other platforms
//    that a registry lacks, and `npm ci` then rejects the lock.
// 4. The root and the workspaces require exact versions.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * @typedef {Record<string, string>} Versions
 * @typedef {{ name?: string, dependencies?: Versions, devDependencies?: Versions, optionalDependencies?: Versions }} Manifest
 * @typedef {Manifest & { resolved?: string, link?: boolean, integrity?: string, hasInstallScript?: boolean }} Entry
 * @typedef {{ packages: Record<string, Entry> }} Lock
 */

const exactVersion = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/**
 * Returns every problem as a sentence, or none for a valid lock.
 *
 * @param {Lock} lock the parsed package-lock.json
 * @param {Record<string, Manifest>} manifests the parsed package.json of the root ("") and of each workspace, by folder
 * @returns {string[]}
 */
export function checkLock(lock, manifests) {
  const problems = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    const isLink = entry.link === true && entry.resolved !== undefined && entry.resolved in manifests;
    if (entry.resolved !== undefined && !isLink) problems.push(`${path} names where it comes from: ${entry.resolved}`);
    if (entry.hasInstallScript === true) problems.push(`${path} has an install script`);
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      const found = findPackage(lock, path, name);
      if (found === undefined) problems.push(`${path || "the root"} needs ${name}, which is not in the lock`);
      else if (found.integrity === undefined) problems.push(`${name} has no integrity`);
    }
  }
  for (const [folder, manifest] of Object.entries(manifests)) {
    const file = join(folder, "package.json");
    for (const kind of /** @type {const} */ (["dependencies", "devDependencies", "optionalDependencies"])) {
      for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
        if (!exactVersion.test(version)) problems.push(`${file} asks for ${name} ${version}, not an exact version`);
      }
    }
  }
  return problems;
}

/**
 * Resolves a package as Node does: beside the one that needs it, then in every folder above.
 *
 * @param {Lock} lock
 * @param {string} from
 * @param {string} name
 */
function findPackage(lock, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const entry = lock.packages[join(folder, "node_modules", name)];
    if (entry !== undefined || folder === "") return entry;
  }
}

export function checkRepository(/** @type {string} */ root) {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const manifest = read("package.json");
  /** @type {Record<string, Manifest>} */
  const manifests = { "": manifest };
  for (const folder of manifest.workspaces) manifests[folder] = read(join(folder, "package.json"));
  return checkLock(read("package-lock.json"), manifests);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = checkRepository(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
