// A `SessionFile` of a session folder is plain or packed. The packed file is in place before the plain one is removed,
// so a reader always finds one of them.
import { closeSync, constants, existsSync, fstatSync, readSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { openRegular } from "./open-regular.ts";
import { PackedFile, writePacked } from "../transcript/packed-file.ts";
import { syncFolder } from "../../durable-file.ts";

/** `CHUNK_BYTES` is small, because all messages decoded from one chunk are in memory together. */
const CHUNK_BYTES = 32 * 1024;
/**
 * The size of a read after the first. The file is opened for each, because a caller may abandon `read` between two
 * chunks.
 */
const BLOCK_BYTES = 8 * CHUNK_BYTES;

const NEWLINE = 0x0a;

const packedName = (file: string): string => `${file}.gz`;

export class SessionFile {
  readonly #path: string;
  /** Kept, because a packed file does not change. */
  #packed: PackedFile | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  length(): number {
    return this.#withFile(
      (fd) => fstatSync(fd).size,
      (packed) => packed.length,
      0,
    );
  }

  /** Each chunk is valid only until the next one, because they share a buffer. */
  *read(from: number, until: number): Generator<Buffer> {
    let buffer = Buffer.allocUnsafe(from < until ? Math.min(CHUNK_BYTES, until - from) : 0);
    for (let at = from; at < until;) {
      const block = this.#readOnce(buffer, at, Math.min(buffer.length, until - at));
      if (block.length === 0) return;
      at += block.length;
      for (let start = 0; start < block.length; start += CHUNK_BYTES) yield block.subarray(start, start + CHUNK_BYTES);
      if (block.length === CHUNK_BYTES) buffer = Buffer.allocUnsafe(BLOCK_BYTES);
    }
  }

  /** Yields the whole lines from `from` on, each with the offset after it. An unfinished last line is left out. */
  *lines(from: number): Generator<{ line: string; end: number }> {
    let open: Buffer[] = [];
    let end = from;
    for (const chunk of this.read(from, Number.POSITIVE_INFINITY)) {
      let begin = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, begin)) {
        const bytes = Buffer.concat([...open, chunk.subarray(begin, at)]);
        open = [];
        begin = at + 1;
        end += bytes.length + 1;
        yield { line: bytes.toString("utf8"), end };
      }
      // `read` reuses the buffer of `chunk`.
      if (begin < chunk.length) open.push(Buffer.from(chunk.subarray(begin)));
    }
  }

  #readOnce(buffer: Buffer, at: number, length: number): Buffer {
    return this.#withFile(
      (fd) => buffer.subarray(0, readSync(fd, buffer, 0, length, at)),
      (packed) => packed.read(at, length),
      Buffer.alloc(0),
    );
  }

  #withFile<T>(plain: (fd: number) => T, packed: (file: PackedFile) => T, missing: T): T {
    const fd = this.#packed ? null : openRegular(this.#path, constants.O_RDONLY);
    if (fd === null) {
      this.#packed ??= orNull(() => new PackedFile(packedName(this.#path)));
      return this.#packed ? packed(this.#packed) : missing;
    }
    try {
      return plain(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** `parseLine` is null for a line damaged by a power cut, so that the other lines of a journal stay readable. */
export function parseLine<T>(line: string): T | null {
  try {
    return JSON.parse(line) as T;
  } catch {
    return null;
  }
}

/** `readWhole` is null if the file exists neither plain nor packed. */
export function readWhole(path: string): Buffer | null {
  if (!isThere(path)) return null;
  return collect(new SessionFile(path).read(0, Number.POSITIVE_INFINITY));
}

export function readEndOf(path: string, bytes: number): string {
  const file = new SessionFile(path);
  const length = file.length();
  return collect(file.read(Math.max(0, length - bytes), length)).toString("utf8");
}

const collect = (pieces: Iterable<Buffer>): Buffer => Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece)));

export const isThere = (file: string): boolean => existsSync(file) || existsSync(packedName(file));

/** No process may write to the file. A repeat after a crash packs again: `rm` follows the sync of the packed file. */
export async function pack(file: string): Promise<void> {
  const fd = openRegular(file, constants.O_RDONLY);
  if (fd === null) return;
  const temporary = `${packedName(file)}.${process.pid}.new`;
  await writePacked(fd, temporary);
  await rename(temporary, packedName(file));
  syncFolder(dirname(file));
  await rm(file);
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
