// `readFileText` reads a file that other programs and agents write too. It may be missing, empty, too large, in another
// encoding, or not a regular file.
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, type BigIntStats } from "node:fs";
import { TuttiError } from "../schema/error.ts";
import { asDiskError } from "../durable-file.ts";

/** `MAX_BYTES` is more than any mailbox needs. A file is parsed in one step, which blocks all other work. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface FileText {
  /** Null if the bytes are not valid text. */
  text: string | null;
  /** Changes with every change of the file; empty if there is no file. */
  version: string;
  modifiedMs: number;
  bytes: Buffer;
}

const NO_FILE: FileText = { text: "", version: "", modifiedMs: 0, bytes: Buffer.alloc(0) };

export function readFileText(path: string, maxBytes: number = MAX_BYTES): FileText {
  try {
    // `O_NONBLOCK` because opening a pipe would wait for a writer. Links are resolved before, so `O_NOFOLLOW` rejects
    // new ones.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = fstatSync(fd, { bigint: true });
      if (!stats.isFile()) throw new TuttiError("wrong_state", `${path} is not a file. Move it away.`);
      if (stats.size > maxBytes)
        throw new TuttiError(
          "wrong_state",
          `${path} is too large for a mailbox file (${stats.size} bytes). Move it away.`,
        );
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

export function fileVersion(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : versionOf(stats);
}

const versionOf = (stats: BigIntStats): string => `${stats.dev}.${stats.ino}.${stats.size}.${stats.mtimeNs}`;

/** `TextDecoder` removes the byte-order mark. PowerShell writes UTF-16 with one. */
function decode(bytes: Buffer): string | null {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
