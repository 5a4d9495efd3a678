// Names the build of a clone after the state of its sources. The launcher uses a build only if its name still fits, so
// an edit takes effect at once.
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A build depends on these files. */
const SOURCES = ["packages/tutti/src", "package-lock.json", "scripts"];

/** The folder of all builds. */
export const buildsFolder = join(root, "packages/tutti/.build");

/** The folder of the build that fits the sources, whether it exists or not. */
export function currentBuild() {
  const hash = createHash("sha1");
  for (const source of SOURCES) addTo(hash, join(root, source));
  return join(buildsFolder, hash.digest("hex").slice(0, 16));
}

/**
 * @param {import("node:crypto").Hash} hash
 * @param {string} path
 */
function addTo(hash, path) {
  const stat = statSync(path);
  if (stat.isDirectory()) for (const name of readdirSync(path).sort()) addTo(hash, join(path, name));
  else hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
}
