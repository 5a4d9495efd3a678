// `npm run agents:install`: installs the pinned agent programs into the cache, unless they are installed already.
//
// 1. No install script runs. Claude's only puts its native binary in place; here the binary goes to `bin`.
// 2. The installation happens in a folder beside the final one, which is renamed after each program has printed its
//    version. An incomplete installation is never used, and parallel ones do not collide.
// 3. The exit code is 3 if, and only if, the disk is too small, so that a caller can continue without the programs.

import { execFile } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { agentsFolder, installationFolder, isInstalled, markerName, pins, programIn } from "./agents.mjs";

const neededBytes = 4e9;
const tooSmall = 3;
const execute = promisify(execFile);

try {
  process.exitCode = await install();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function install() {
  const folder = agentsFolder();
  if (!isInstalled()) {
    mkdirSync(folder, { recursive: true });
    removeAbandoned(folder);
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < neededBytes) {
      const free = ((bavail * bsize) / 1e9).toFixed(1);
      console.error(
        `The folder "${folder}" has ${free} GB of free disk space, and the agent programs need 4 GB. Free some space, or set TUTTI_AGENTS_DIR to another folder.`,
      );
      return tooSmall;
    }
    const stage = join(folder, `stage-${process.pid}`);
    try {
      await fill(stage);
      publish(stage);
    } finally {
      rmSync(stage, { recursive: true, force: true });
    }
  }
  pointTo(folder);
  for (const [name, { version }] of Object.entries(pins)) {
    console.log(`${name} ${version}: ${programIn(installationFolder(), name)}`);
  }
  return 0;
}

/** Installs all programs into a folder and checks their versions. */
async function fill(/** @type {string} */ stage) {
  const dependencies = Object.fromEntries(Object.values(pins).map((pin) => [pin.package, pin.version]));
  const home = join(stage, "home");
  for (const folder of [join(stage, "bin"), home]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(stage, "package.json"), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
  console.log("installing the agent programs, about 1.4 GB");
  const flags = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  await execute("npm", ["install", "--prefix", stage, ...flags], { cwd: stage, maxBuffer: 64e6 });
  for (const [name, pin] of Object.entries(pins)) {
    const link = programIn(stage, name);
    symlinkSync(relative(dirname(link), startable(stage, name, pin)), link);
    const { stdout } = await execute(link, ["--version"], { env: { ...process.env, HOME: home } });
    if (!stdout.includes(pin.version))
      throw new Error(
        `The program "${name}" reports version "${stdout.trim()}", not ${pin.version}. Check scripts/agents.json.`,
      );
  }
  rmSync(home, { recursive: true, force: true });
  writeFileSync(join(stage, markerName), `${JSON.stringify(pins, null, 2)}\n`);
}

/**
 * The file to start for a program. Claude's entry is a placeholder until its install script has run,
 * so its native binary, an optional dependency of its own, is started directly.
 *
 * @param {string} stage
 * @param {string} name
 * @param {import("./agents.mjs").Pin} pin
 */
function startable(stage, name, pin) {
  const modules = join(stage, "node_modules");
  if (name === "claude") {
    const native = readdirSync(join(modules, dirname(pin.package))).find((entry) => /^claude-code-./.test(entry));
    if (native === undefined) throw new Error(`The package "${pin.package}" has no binary for this machine.`);
    return join(modules, dirname(pin.package), native, "claude");
  }
  const { bin } = JSON.parse(readFileSync(join(modules, pin.package, "package.json"), "utf8"));
  return join(modules, pin.package, typeof bin === "string" ? bin : bin[name]);
}

/** Renames a complete installation to its final name. If another process was faster, its installation stays. */
function publish(/** @type {string} */ stage) {
  const final = installationFolder();
  if (isInstalled()) return;
  rmSync(final, { recursive: true, force: true });
  try {
    renameSync(stage, final);
  } catch (error) {
    if (!isInstalled()) throw error;
  }
}

/** Removes the folders of installers that no longer run. */
function removeAbandoned(/** @type {string} */ folder) {
  for (const name of readdirSync(folder)) {
    const pid = /^stage-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(/** @type {number} */ pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** `bin` in the cache links to the latest requested programs, for manual use. */
function pointTo(/** @type {string} */ folder) {
  const next = join(folder, `bin-${process.pid}`);
  rmSync(next, { force: true });
  symlinkSync(join(relative(folder, installationFolder()), "bin"), next);
  renameSync(next, join(folder, "bin"));
}
