// The real agent programs that the tests use: their names, versions and paths.
//
// 1. They are not dependencies. They are in a cache outside the repository, which every clone shares.
// 2. Each set of pins has its own folder, so clones with different pins do not interfere.
// 3. A folder is valid only with the marker, which a complete installation writes last.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** @typedef {{ package: string, version: string }} Pin */

const file = new URL("agents.json", import.meta.url);

/** The programs by command name. */
export const pins = /** @type {Record<string, Pin>} */ (JSON.parse(readFileSync(file, "utf8")));

/** The folder of all installations. */
export function agentsFolder(env = process.env) {
  if (env["TUTTI_AGENTS_DIR"]) return env["TUTTI_AGENTS_DIR"];
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tutti", "agents");
}

/** The folder of this set of pins. It contains binaries, so its name includes the platform. */
export function installationFolder(env = process.env) {
  const key = createHash("sha256")
    .update(JSON.stringify([process.platform, process.arch, pins]))
    .digest("hex");
  return join(agentsFolder(env), key.slice(0, 12));
}

/** Written last, so that an incomplete installation is repeated. */
export const markerName = "complete.json";

/** The path of a program in an installation, which need not exist. */
export function programIn(/** @type {string} */ installation, /** @type {string} */ name) {
  return join(installation, "bin", name);
}

/** Returns whether every pinned program is installed. */
export function isInstalled(env = process.env) {
  const installation = installationFolder(env);
  const needed = [join(installation, markerName), ...Object.keys(pins).map((name) => programIn(installation, name))];
  return needed.every((path) => existsSync(path));
}

/** Returns the path of a program. Throws if it is not installed. */
export function agentProgram(/** @type {string} */ name, env = process.env) {
  if (pins[name] === undefined) throw new Error(`The agent program "${name}" is not in scripts/agents.json.`);
  if (!isInstalled(env))
    throw new Error("The agent programs are not installed. Install them with: npm run agents:install");
  return programIn(installationFolder(env), name);
}
