// Takes the parts of messages out of what an agent has written, once it is over. Every message also comes whole, and it is
// the whole one that is read and masked; but between two parts a secret may be cut, where no mask finds it. A part is
// overwritten by as many blanks, so that offsets into the file stay right.
import { closeSync, existsSync, openSync, readSync, writeSync } from "node:fs";
import { paths, readJson, type KeeperSpec } from "./session-folder.ts";

const CHUNK_BYTES = 1024 * 1024;
/** No part of a message is so long; what is longer is not looked at. */
const LONGEST_LINE = 4 * CHUNK_BYTES;
const NEWLINE = 0x0a;
const SIGN = Buffer.from('"partial"');

/** Nobody may be writing any more. */
export function forgetParts(folder: string): void {
  const { output, spec } = paths(folder);
  // An agent with a process for each turn writes plain text, whatever that looks like.
  if (!existsSync(output) || readJson<KeeperSpec>(spec)?.mode !== "stream") return;
  const fd = openSync(output, "r+");
  try {
    for (const { at, length } of findParts(fd)) writeSync(fd, Buffer.alloc(length, " "), 0, length, at);
  } finally {
    closeSync(fd);
  }
}

function* findParts(fd: number): Generator<{ at: number; length: number }> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let open: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for (let at = 0; ;) {
    const length = readSync(fd, chunk, 0, CHUNK_BYTES, at);
    if (length === 0) return;
    const bytes = Buffer.concat([open, chunk.subarray(0, length)]);
    const begin = at - open.length;
    at += length;
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      if (!isTooLong && isPart(bytes.subarray(from, end))) yield { at: begin + from, length: end - from };
      isTooLong = false;
      from = end + 1;
    }
    isTooLong ||= bytes.length - from > LONGEST_LINE;
    open = isTooLong ? Buffer.alloc(0) : Buffer.from(bytes.subarray(from));
  }
}

function isPart(line: Buffer): boolean {
  if (!line.includes(SIGN)) return false;
  try {
    const { type, partial } = JSON.parse(line.toString("utf8")) as Record<string, unknown>;
    return type === "assistant" && partial === true;
  } catch {
    return false;
  }
}
