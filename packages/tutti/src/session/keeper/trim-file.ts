// `trimFile` removes the middle of a file of an agent that wrote too much. Its beginning and its end stay.
import { closeSync, constants, fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { openRegular } from "./open-regular.ts";

/** `TAIL_BYTES` of the end are kept. */
const TAIL_BYTES = 1024 * 1024;
/** `NOTICE_BYTES` is longer than the notice. */
const NOTICE_BYTES = 64;
const NEWLINE = 0x0a;

/**
 * Trims the file to at most `most` bytes, with a line that names the number of bytes left out. `trimFile` returns
 * whether it did. A program that still appends to the file may lose what it writes meanwhile.
 */
export function trimFile(path: string, most: number): boolean {
  // Never through a link that the agent may have put there.
  const fd = openRegular(path, constants.O_RDWR);
  if (fd === null) return false;
  try {
    const { size } = fstatSync(fd);
    if (size <= most) return false;
    const tail = readTail(fd, size, Math.min(TAIL_BYTES, Math.floor(most / 2)));
    const head = Math.max(0, most - tail.length - NOTICE_BYTES);
    ftruncateSync(fd, head);
    const notice = `\n[${size - head - tail.length} bytes left out]\n`;
    const rest = Buffer.concat([Buffer.from(notice), tail]);
    writeSync(fd, rest, 0, rest.length, head);
    return true;
  } finally {
    closeSync(fd);
  }
}

/** `readTail` has whole lines. A part of a line counts only if there is no whole one. */
function readTail(fd: number, size: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const tail = bytes.subarray(0, readSync(fd, bytes, 0, length, size - length));
  return tail.subarray(tail.subarray(0, -1).indexOf(NEWLINE) + 1);
}
