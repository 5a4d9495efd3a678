// A file of a session's folder that only grows while the session lives, and may be packed once it is over. Whoever reads
// it need not know which: the packed file is in place before the plain one goes.
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PackedFile, writePacked } from "./packed-file.ts";
import { syncFolder } from "../durable-file.ts";

/** What is read at once is also decoded at once, and its messages are held together: the more, the more memory. */
const CHUNK_BYTES = 64 * 1024;

const packedName = (file: string): string => `${file}.gz`;

export class SessionFile {
  readonly #path: string;
  /** A packed file never changes again, so it is opened once. */
  #packed: PackedFile | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  length(): number {
    return this.#look(
      (fd) => fstatSync(fd).size,
      (packed) => packed.length,
      0,
    );
  }

  /** Piece by piece. Each is good until the next one is asked for. */
  *read(from: number, until: number): Generator<Buffer> {
    const buffer = Buffer.allocUnsafe(from < until ? Math.min(CHUNK_BYTES, until - from) : 0);
    for (let at = from; at < until;) {
      const chunk = this.#readOnce(buffer, at, Math.min(buffer.length, until - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      yield chunk;
    }
  }

  #readOnce(buffer: Buffer, at: number, length: number): Buffer {
    return this.#look(
      (fd) => buffer.subarray(0, readSync(fd, buffer, 0, length, at)),
      (packed) => packed.read(at, length),
      Buffer.alloc(0),
    );
  }

  /** A file that is not there, or not yet, is an empty one. */
  #look<T>(plain: (fd: number) => T, packed: (file: PackedFile) => T, missing: T): T {
    const fd = this.#packed ? null : orNull(() => openSync(this.#path, "r"));
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

/** The whole of a file, packed or not; null if there is neither. */
export function readWhole(path: string): Buffer | null {
  if (!isThere(path)) return null;
  return collect(new SessionFile(path).read(0, Number.POSITIVE_INFINITY));
}

/** The end of a file, as text. */
export function readEndOf(path: string, bytes: number): string {
  const file = new SessionFile(path);
  const length = file.length();
  return collect(file.read(Math.max(0, length - bytes), length)).toString("utf8");
}

const collect = (pieces: Iterable<Buffer>): Buffer => Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece)));

export const isThere = (file: string): boolean => existsSync(file) || existsSync(packedName(file));

/**
 * Packs a file that nobody writes to any more. Only when the packed one has reached the disk is the plain one removed; a
 * repeat after a crash in between packs once more.
 */
export async function pack(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const beside = `${packedName(file)}.${process.pid}.new`;
  await writePacked(file, beside);
  await rename(beside, packedName(file));
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
