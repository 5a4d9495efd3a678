// A `text:` agent that obeys the orders in its prompt; see orders.ts. Its only output is its answer, so it cannot ask
// or report anything, and an error is its exit code.
import { writeSync } from "node:fs";
import { text } from "node:stream/consumers";
import { carryOut, runCommand, writeFile } from "./orders.ts";

const print = (words: string): void => void writeSync(1, words);
const nothing = (): void => {};

const end = await carryOut(
  await text(process.stdin),
  { say: print, mutter: print, write: writeFile, run: runCommand, delegate: nothing, use: nothing },
  { again: false, interrupted: new AbortController().signal },
);
if (end.how === "failed") {
  console.error(end.words);
  process.exitCode = 7;
}
