#!/usr/bin/env node
// The launcher: finds a Node that can run Tutti, then calls `main`.
// An old Node must be able to parse this file, so that it can print that it is too old (ES modules need 12.17).
// Therefore it has no top-level await, no optional chaining and no "node:" prefix, and imports Tutti itself only after
// the version check.

import module from "module";

const require = module.createRequire(import.meta.url);
// An `import` of "fs" reads all its names, which loads Node's streams, promises and readline as well.
const { existsSync, readFileSync, realpathSync } = require("fs");
const { constants, homedir } = require("os");
const { isAbsolute, join } = require("path");
const { fileURLToPath } = require("url");
const source = new URL("../src/cli/main.ts", import.meta.url);
const built = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
const buildKey = new URL("../../../scripts/build-key.mjs", import.meta.url);
const pinnedNode = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
const inCheckout = existsSync(source);
const FLUSH_AFTER_MS = 3000;
const INTERRUPTED = 130;
/** @type {NodeJS.Signals[]} */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"];

// `npm run tutti` changes to the folder of the clone. Relative paths mean the caller's folder, as they do for `tutti`.
if (inCheckout && process.env.npm_lifecycle_event === "tutti" && process.env.INIT_CWD) {
  process.chdir(process.env.INIT_CWD);
  delete process.env.INIT_CWD;
}

const version = process.versions.node.split(".").map(Number);
const major = version[0] || 0;
const newEnough = major > 22 || (major === 22 && (version[1] || 0) >= 18);

if (newEnough && process.argv.length === 3 && ["--version", "-V"].includes(process.argv[2] || "")) {
  // Nothing has to be loaded for this.
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else if (newEnough) {
  hideSqliteWarning();
  useCompileCache();
  if (process.env.TUTTI_LAUNCHED && process.channel) followLauncher(process.channel);
  endOnSignals();
  Promise.resolve()
    .then(load)
    .then((cli) => cli.main(process.argv.slice(2), { ownsStreams: true }))
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

/** Ends the process on a signal, with the same exit code for all of them, while `main` has no listener of its own. */
function endOnSignals() {
  SIGNALS.forEach((signal) => {
    const others = process.listenerCount(signal) + 1;
    process.on(signal, () => {
      if (process.listenerCount(signal) <= others) process.exit(INTERRUPTED);
    });
  });
}

/**
 * In a clone a build is used only if it fits the sources. The tests name one, so that no process has to compare them.
 *
 * @returns {any} The module `cli/main`, or a promise of it.
 */
function load() {
  if (!inCheckout) return require(built);
  /** @param {string} folder */
  const use = (folder) => {
    const file = join(folder, "cli", "main.cjs");
    return existsSync(file) ? require(file) : import(source.href);
  };
  if (process.env.TUTTI_BUILD) return use(process.env.TUTTI_BUILD);
  if (!existsSync(buildKey)) return import(source.href);
  return import(buildKey.href).then((key) => use(key.currentBuild()));
}

function refuse() {
  console.error(`Node ${process.versions.node} is too old for tutti. Install Node 22.18 or newer.`);
  process.exit(1);
}

/**
 * Runs this file again with another Node, and ends with its exit code or signal.
 *
 * @param {string} node
 */
function runWith(node) {
  // Most starts need no other process.
  const { spawn } = require("child_process");
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: Object.assign({}, process.env, { TUTTI_LAUNCHED: "1" }),
  });
  SIGNALS.forEach((signal) => {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes, and a forwarded signal would look like a second Ctrl-C. So the child
      // only gets a message, and ignores it if it has received the signal itself.
      if (signal === "SIGINT" && onTerminal) {
        if (child.connected) child.send(signal);
      } else child.kill(signal);
    });
  });
  // The pinned Node may not start at all, for example if it was built for another C library.
  child.on("error", refuse);
  child.on("close", (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Reached only if the signal does not end this process.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
}

/**
 * Runs in the child of the launcher. Handles a Ctrl-C that only the launcher received, and ends this process like the
 * launcher when that is killed: a server would otherwise go on in the background.
 *
 * @param {{ unref(): void }} channel
 */
function followLauncher(channel) {
  delete process.env.TUTTI_LAUNCHED;
  let receivedAt = 0;
  process.on("SIGINT", () => {
    receivedAt = Date.now();
  });
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.on("message", (message) => {
    if (message !== "SIGINT") return;
    // The signal of a terminal arrives here at about the same moment.
    setTimeout(() => {
      if (Date.now() - receivedAt > 1000) process.kill(process.pid, "SIGINT");
    }, 200);
  });
  channel.unref();
}

/** Node 22 warns in every command that its SQLite is experimental. All other warnings stay. */
function hideSqliteWarning() {
  const emitWarning = process.emitWarning.bind(process);
  /** @param {any[]} args */
  process.emitWarning = (...args) => {
    if (!String(args[0]).startsWith("SQLite is an experimental feature")) Reflect.apply(emitWarning, process, args);
  };
}

/**
 * Stores compiled code in the user's cache folder, which makes later starts faster, also those of keepers. Does nothing
 * if Node has no compile cache or cannot write it.
 */
function useCompileCache() {
  if (process.env.NODE_COMPILE_CACHE || !module.enableCompileCache) return;
  const xdg = process.env.XDG_CACHE_HOME;
  let base = xdg && isAbsolute(xdg) ? xdg : join(homedir(), ".cache");
  if (process.platform === "darwin") base = join(homedir(), "Library", "Caches");
  if (process.platform === "win32") base = process.env.LOCALAPPDATA || homedir();
  const folder = join(base, "tutti", "compiled");
  if (!module.enableCompileCache(folder).directory) return;
  process.env.NODE_COMPILE_CACHE = folder;
  // Node writes the cache when the process exits; a killed process would write nothing.
  if (module.flushCompileCache) setTimeout(module.flushCompileCache, FLUSH_AFTER_MS).unref();
}
