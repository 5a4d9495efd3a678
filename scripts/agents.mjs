// The real agent programs that the tests drive: which ones, at which versions, and where they are.
//
// 1. They are no dependencies. They live in a cache outside the repository, shared by every clone of it.
// 2. Each set of pins has a folder of its own, so clones with different pins do not disturb each other.
// 3. A folder counts only when it holds the marker, which is written last and only by a finished installation.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** @typedef {{ package: string, version: string }} Pin */

const file = new URL("agents.json", import.meta.url);

/** The programs by the name they are started under. */
export const pins = /** @type {Record<string, Pin>} */ (JSON.parse(readFileSync(file, "utf8")));

/** Where the programs of all clones are kept. */
export function agentsFolder(env = process.env) {
  if (env["TUTTI_AGENTS_DIR"]) return env["TUTTI_AGENTS_DIR"];
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tutti", "agents");
}

/** Where the programs of these pins are kept. A binary for another machine is not ours, hence the platform. */
export function installationFolder(env = process.env) {
  const key = createHash("sha256")
    .update(JSON.stringify([process.platform, process.arch, pins]))
    .digest("hex");
  return join(agentsFolder(env), key.slice(0, 12));
}

/** Written last, so that an installation that was broken off is done again. */
export const markerName = "complete.json";

/** The path of a program in an installation, whether or not it is there. */
export function programIn(/** @type {string} */ installation, /** @type {string} */ name) {
  return join(installation, "bin", name);
}

/** Is every program of these pins there? */
export function isInstalled(env = process.env) {
  const installation = installationFolder(env);
  const needed = [join(installation, markerName), ...Object.keys(pins).map((name) => programIn(installation, name))];
  return needed.every((path) => existsSync(path));
}

/** The path of a program that tests start. */
export function agentProgram(/** @type {string} */ name, env = process.env) {
  if (pins[name] === undefined) throw new Error(`There is no agent program called ${name} in scripts/agents.json.`);
  if (!isInstalled(env)) throw new Error("The agent programs are not installed: npm run agents:install");
  return programIn(installationFolder(env), name);
}
