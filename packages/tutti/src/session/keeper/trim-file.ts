// `trimFile` removes the middle of a file of an agent that wrote too much. Its beginning and its end stay.
//
// 1. A program may append to the file meanwhile. The kept end is copied over the middle, and the copy continues with the
//    appended bytes until it reaches the end of the file. Only then is the file truncated, so the program loses only
//    bytes that it appends between that last read and `ftruncateSync`.
// 2. A keeper that is killed before `ftruncateSync` leaves a file that is still too long, so the engine trims it again.
import { closeSync, constants, fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { openRegular } from "./open-regular.ts";

/** `TAIL_BYTES` of the end are kept. */
const TAIL_BYTES = 1024 * 1024;
/** `NOTICE_BYTES` is longer than the notice. */
const NOTICE_BYTES = 64;
/** A program that appends faster than `trimFile` copies must not block the keeper. The next check trims its file again. */
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Trims the file to at most `most` bytes (at least 1,000), plus those that are appended meanwhile, with a line that names
 * the number of bytes left out. `trimFile` returns whether it did.
 */
export function trimFile(path: string, most: number): boolean {
  // Never through a link that the agent may have put there.
  const fd = openRegular(path, constants.O_RDWR);
  if (fd === null) return false;
  try {
    const { size } = fstatSync(fd);
    if (size <= most) return false;
    const buffer = Buffer.allocUnsafe(Math.min(TAIL_BYTES, Math.floor(most / 2)));
    const tail = startOfTail(fd, size - buffer.length, buffer);
    const head = Math.max(0, most - (size - tail) - NOTICE_BYTES);
    const notice = Buffer.from(`\n[${tail - head} bytes left out]\n`);
    writeAll(fd, notice, head);
    const copied = copyToEnd(fd, tail, head + notice.length, buffer);
    ftruncateSync(fd, head + notice.length + copied);
    return true;
  } finally {
    closeSync(fd);
  }
}

/** The kept end has whole lines. A part of a line counts only if there is no whole one. */
function startOfTail(fd: number, from: number, buffer: Buffer): number {
  const read = readSync(fd, buffer, 0, buffer.length, from);
  return from + buffer.subarray(0, Math.max(0, read - 1)).indexOf(NEWLINE) + 1;
}

/** Copies the bytes of the file from `from` to `to`, which is before it. Returns their number. */
function copyToEnd(fd: number, from: number, to: number, buffer: Buffer): number {
  let copied = 0;
  while (copied < MAX_COPIED_BYTES) {
    const read = readSync(fd, buffer, 0, buffer.length, from + copied);
    if (read === 0) break;
    writeAll(fd, buffer.subarray(0, read), to + copied);
    copied += read;
  }
  return copied;
}

function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
}
