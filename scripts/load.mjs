// A process that creates load beside the tests: `node scripts/load.mjs cpu|disk|memory`. Its standard input is a pipe
// from its parent, and it exits when that closes.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** @type {Record<string, () => void>} */
const kinds = { cpu: burn, disk: writeFiles, memory: fillMemory };

const kind = kinds[process.argv[2] ?? ""];
if (!kind) throw new Error(`The load "${process.argv[2]}" does not exist. Choose ${Object.keys(kinds).join(", ")}.`);
process.stdin.on("end", () => process.exit(0)).resume();
process.once("SIGTERM", () => process.exit(0));
kind();

/** Repeats `act` forever, with a turn of the event loop in between, so that the end of the parent is detected. */
function repeat(/** @type {() => void} */ act) {
  act();
  setImmediate(repeat, act);
}

function burn() {
  repeat(() => {
    const until = performance.now() + 20;
    while (performance.now() < until);
  });
}

/** Writes 32 MiB in blocks, each flushed to disk. */
function writeFiles() {
  const folder = mkdtempSync(join(tmpdir(), "tutti-load-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const block = Buffer.alloc(1024 * 1024, 7);
  let written = 0;
  repeat(() => {
    const file = openSync(join(folder, "blocks"), written % 32 === 0 ? "w" : "a");
    writeSync(file, block);
    fsyncSync(file);
    closeSync(file);
    written += 1;
  });
}

/** Touches 1 GiB repeatedly, which also evicts the CPU caches of other processes. */
function fillMemory() {
  const blocks = Array.from({ length: 64 }, () => Buffer.alloc(16 * 1024 * 1024, 1));
  let turn = 0;
  setInterval(() => blocks[turn++ % blocks.length]?.fill(turn % 256), 10);
}
