// Blanks the partial messages in `output.log` after the end of a session. Every message also follows whole and masked,
// but a secret may be split between two partial ones, where no mask finds it. Blanks keep the length, so offsets stay
// valid.
import { closeSync, constants, readSync, writeSync } from "node:fs";
import { openRegular } from "../keeper/session-file.ts";
import { paths, readJson, type KeeperSpec } from "../keeper/session-folder.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Longer lines are skipped, because no partial message is so long. */
const LONGEST_LINE = 4 * CHUNK_BYTES;
const NEWLINE = 0x0a;
const SIGN = Buffer.from('"partial"');

/** Call it only when no process writes to the file any more. */
export function forgetParts(folder: string): void {
  const { output, spec } = paths(folder);
  // In `turn` mode the output is plain text, even if a line looks like a partial message.
  if (readJson<KeeperSpec>(spec)?.mode !== "stream") return;
  const fd = openRegular(output, constants.O_RDWR);
  if (fd === null) return;
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
