// One process of load beside the tests: `node scripts/load.mjs cpu|disk|memory`. It ends with its parent, whose end of
// the pipe is its standard input.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** @type {Record<string, () => void>} */
const kinds = { cpu: burn, disk: writeFiles, memory: fillMemory };

const kind = kinds[process.argv[2] ?? ""];
if (!kind) throw new Error(`There is no load "${process.argv[2]}". Choose ${Object.keys(kinds).join(", ")}.`);
process.stdin.on("end", () => process.exit(0)).resume();
process.once("SIGTERM", () => process.exit(0));
kind();

/** Repeats `act` for ever, with a turn of the event loop between, so that the end of the parent is noticed. */
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

/** Writes 32 MiB in blocks, each flushed to the disk. */
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

/** Keeps 1 GiB and touches all of it again and again, which also takes the caches of the processor from others. */
function fillMemory() {
  const blocks = Array.from({ length: 64 }, () => Buffer.alloc(16 * 1024 * 1024, 1));
  let turn = 0;
  setInterval(() => blocks[turn++ % blocks.length]?.fill(turn % 256), 10);
}
