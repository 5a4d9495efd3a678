// A `text:` agent that does what the prompt says; see orders.ts. It can say nothing but its answer, so it asks for
// nothing and tells of nothing, and an error of its own is its exit.
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
