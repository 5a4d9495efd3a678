#!/usr/bin/env node
// The launcher: finds a Node that can run Tutti, then calls main.
// An old Node must be able to parse this file to be told that it is old (ES modules: 12.17 at the least),
// so there is no top-level await, no optional chaining and no "node:" prefix here, and Tutti itself is
// imported only after the version check.

import { spawn } from "child_process";
import { existsSync, realpathSync } from "fs";
import module from "module";
import { constants, homedir } from "os";
import { isAbsolute, join } from "path";
import { fileURLToPath } from "url";

const source = new URL("../src/cli/main.ts", import.meta.url);
const built = new URL("../dist/cli/main.js", import.meta.url);
const pinnedNode = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
const inCheckout = existsSync(source);
const FLUSH_AFTER_MS = 3000;

const version = process.versions.node.split(".").map(Number);
const major = version[0] || 0;
const newEnough = major > 22 || (major === 22 && (version[1] || 0) >= 18);

if (newEnough) {
  hideSqliteWarning();
  keepCompiled();
  if (process.env.TUTTI_LAUNCHED && process.channel) hearLauncher(process.channel);
  // The address is a value, not a literal, because only one of the two files exists.
  const entry = inCheckout ? source : built;
  import(entry.href)
    .then((cli) => cli.main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    })
    .catch((error) => {
      console.error(error);
      process.exit(1);
    });
} else if (inCheckout && existsSync(pinnedNode) && realpathSync(pinnedNode) !== realpathSync(process.execPath)) {
  runWith(pinnedNode);
} else {
  refuse();
}

function refuse() {
  console.error(`tutti needs Node 22.18 or newer, and this is Node ${process.versions.node}.`);
  process.exit(1);
}

/**
 * Starts this file again with another Node and ends as that one ends.
 *
 * @param {string} node
 */
function runWith(node) {
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), {
    stdio: onTerminal ? ["inherit", "inherit", "inherit", "ipc"] : "inherit",
    env: onTerminal ? Object.assign({}, process.env, { TUTTI_LAUNCHED: "1" }) : process.env,
  });
  /** @type {NodeJS.Signals[]} */
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"];
  signals.forEach((signal) => {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes. Forwarding it too would look like a second, impatient Ctrl-C, so the
      // other process is only told, and decides by what it has heard itself.
      if (signal === "SIGINT" && onTerminal) {
        if (child.connected) child.send(signal);
      } else child.kill(signal);
    });
  });
  // A Node that cannot be started at all, for example one built for another C library, is the same as none.
  child.on("error", refuse);
  child.on("close", (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Only a signal that does not end this process lets it come this far.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
}

/**
 * In the process that the launcher started: a Ctrl-C that was sent to the launcher alone counts here too.
 *
 * @param {{ unref(): void }} channel
 */
function hearLauncher(channel) {
  delete process.env.TUTTI_LAUNCHED;
  let heardAt = 0;
  const onInterrupt = () => {
    heardAt = Date.now();
    // If nobody else listens, the signal ends the process, as it does without a launcher.
    if (process.listenerCount("SIGINT") > 1) return;
    process.removeListener("SIGINT", onInterrupt);
    process.kill(process.pid, "SIGINT");
  };
  process.on("SIGINT", onInterrupt);
  process.on("message", (message) => {
    if (message !== "SIGINT") return;
    // One of the terminal arrives here at about the same moment.
    setTimeout(() => {
      if (Date.now() - heardAt > 1000) process.kill(process.pid, "SIGINT");
    }, 200);
  });
  channel.unref();
}

/** Node 22 warns that its SQLite is experimental, once in every command. Every other warning stays. */
function hideSqliteWarning() {
  const emitWarning = process.emitWarning.bind(process);
  /** @param {any[]} args */
  process.emitWarning = (...args) => {
    if (!String(args[0]).startsWith("SQLite is an experimental feature")) Reflect.apply(emitWarning, process, args);
  };
}

/**
 * Node keeps what it has compiled in the person's own cache folder, so that every later start, also of our keepers, is
 * spared it. Where that is not possible, nothing is kept.
 */
function keepCompiled() {
  if (process.env.NODE_COMPILE_CACHE || !module.enableCompileCache) return;
  const wished = process.env.XDG_CACHE_HOME;
  let base = wished && isAbsolute(wished) ? wished : join(homedir(), ".cache");
  if (process.platform === "darwin") base = join(homedir(), "Library", "Caches");
  if (process.platform === "win32") base = process.env.LOCALAPPDATA || homedir();
  const folder = join(base, "tutti", "compiled");
  if (!module.enableCompileCache(folder).directory) return;
  process.env.NODE_COMPILE_CACHE = folder;
  // Written at the end of a process by itself; one that is killed before has no end.
  if (module.flushCompileCache) setTimeout(module.flushCompileCache, FLUSH_AFTER_MS).unref();
}
