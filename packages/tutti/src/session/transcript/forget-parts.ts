// `forgetParts` blanks the partial messages in `output.log` after the end of a session. Every message also follows
// whole and masked, but a secret may be split between two partial ones, where no mask finds it. Blanks keep the length,
// so offsets stay valid.
import { closeSync, constants, readSync, writeSync } from "node:fs";
import { parseRecord } from "../json-fields.ts";
import { openRegular } from "../keeper/open-regular.ts";
import { paths, readJson, type KeeperSpec } from "../keeper/session-folder.ts";

const CHUNK_BYTES = 256 * 1024;
/** Lines longer than `LONGEST_LINE` are skipped, because no partial message is so long. */
const LONGEST_LINE = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
const SIGN = Buffer.from('"partial"');

/** Call `forgetParts` only when no process writes to the file any more. Yields after every chunk. */
export function* forgetParts(folder: string): Generator<null, void> {
  const { output, spec } = paths(folder);
  // In `turn` mode the output is plain text, even if a line looks like a partial message.
  if (readJson<KeeperSpec>(spec)?.mode !== "stream") return;
  const fd = openRegular(output, constants.O_RDWR);
  if (fd === null) return;
  try {
    for (const part of findParts(fd)) {
      if (part) writeSync(fd, Buffer.alloc(part.length, " "), 0, part.length, part.at);
      else yield null;
    }
  } finally {
    closeSync(fd);
  }
}

/** Yields null after every chunk. */
function* findParts(fd: number): Generator<{ at: number; length: number } | null> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let open: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for (let at = 0; ;) {
    const length = readSync(fd, chunk, 0, CHUNK_BYTES, at);
    if (length === 0) return;
    const bytes = Buffer.concat([open, chunk.subarray(0, length)]);
    const begin = at - open.length;
    at += length;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const first = isTooLong ? bytes.indexOf(NEWLINE) + 1 : 0;
    for (const part of partsIn(bytes, first, end)) yield { at: begin + part.at, length: part.length };
    if (end > 0) isTooLong = false;
    isTooLong ||= bytes.length - end > LONGEST_LINE;
    open = isTooLong ? Buffer.alloc(0) : Buffer.from(bytes.subarray(end));
    yield null;
  }
}

/** `partsIn` searches for SIGN, because most of very many lines have none. */
function* partsIn(bytes: Buffer, first: number, end: number): Generator<{ at: number; length: number }> {
  for (let from = first; ;) {
    const sign = bytes.indexOf(SIGN, from);
    if (sign < 0 || sign >= end) return;
    const at = Math.max(first, bytes.lastIndexOf(NEWLINE, sign) + 1);
    const length = bytes.indexOf(NEWLINE, sign) - at;
    if (isPart(bytes.subarray(at, at + length))) yield { at, length };
    from = at + length + 1;
  }
}

function isPart(line: Buffer): boolean {
  const { type, partial } = parseRecord(line.toString("utf8"));
  return type === "assistant" && partial === true;
}
