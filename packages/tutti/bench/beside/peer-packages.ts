// The packages of the peers, installed once into the user's cache. They are not part of this repository's install.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL("peers/", import.meta.url));
const FILES = ["package.json", "package-lock.json"];

/** Returns the reason as a string if the packages are not available. */
export function installPeers(): { folder: string } | string {
  const hash = createHash("sha256");
  for (const name of FILES) hash.update(readFileSync(join(HERE, name)));
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const folder = join(cache, "tutti/bench-peers", hash.digest("hex").slice(0, 16));
  if (existsSync(folder)) return { folder };
  // `unfinished` is renamed at the end, so that an interrupted install does not count as complete.
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const name of FILES) copyFileSync(join(HERE, name), join(unfinished, name));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", ["ci", ...flags], { cwd: unfinished, encoding: "utf8" });
  if (status === 0) renameSync(unfinished, folder);
  else rmSync(unfinished, { recursive: true, force: true });
  return status === 0 ? { folder } : `npm ci failed: ${(stderr ?? "").trim().split("\n").at(-1)}`;
}

export function versionIn(packages: string, name: string): string {
  const file = join(packages, "node_modules", name, "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
