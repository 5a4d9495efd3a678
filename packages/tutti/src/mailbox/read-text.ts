// Reads a file that other programs and agents write too, so it may be anything: missing, empty, with a byte-order mark,
// in the encoding of another system, much too big, or no file at all.
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { TuttiError } from "../schema/error.ts";
import { asDiskError } from "../durable-file.ts";

/** More than any mailbox needs, and less than hurts. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface FileText {
  /** Null if the bytes are no text. */
  text: string | null;
  /** Changes whenever the file does; empty if there is no file. */
  version: string;
  modifiedMs: number;
  bytes: Buffer;
}

const NO_FILE: FileText = { text: "", version: "", modifiedMs: 0, bytes: Buffer.alloc(0) };

export function readFileText(path: string, maxBytes: number = MAX_BYTES): FileText {
  try {
    // A pipe would wait for a writer, and a link has been resolved before.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = fstatSync(fd, { bigint: true });
      if (!stats.isFile()) throw new TuttiError("wrong_state", `${path} is not a file`);
      if (stats.size > maxBytes)
        throw new TuttiError("wrong_state", `${path} is too big to be a mailbox (${stats.size} bytes)`);
      const bytes = readFileSync(fd);
      return { text: decode(bytes), version: versionOf(stats), modifiedMs: Number(stats.mtimeMs), bytes };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NO_FILE;
    throw asDiskError(error, `${path} cannot be read`);
  }
}

/** The version of a file without reading it. */
export function fileVersion(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : versionOf(stats);
}

const versionOf = (stats: BigIntStats): string => `${stats.dev}.${stats.ino}.${stats.size}.${stats.mtimeNs}`;

/** A byte-order mark is taken off; PowerShell writes UTF-16 with one. */
function decode(bytes: Buffer): string | null {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
