// A file of a session's folder that only grows while the session lives, and may be packed once it is over. Whoever reads
// it need not know which: the packed file is in place before the plain one goes.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip, gunzipSync } from "node:zlib";

const CHUNK_BYTES = 256 * 1024;

const packedName = (file: string): string => `${file}.gz`;

export class SessionFile {
  readonly #path: string;
  /** A packed file never changes again, so it is unpacked once. */
  #unpacked: Buffer | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  length(): number {
    return this.#look(
      (fd) => fstatSync(fd).size,
      (all) => all.length,
    );
  }

  *read(from: number, until: number): Generator<Buffer> {
    for (let at = from; at < until;) {
      const chunk = this.#readOnce(at, Math.min(CHUNK_BYTES, until - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      yield chunk;
    }
  }

  #readOnce(at: number, length: number): Buffer {
    return this.#look(
      (fd) => {
        const buffer = Buffer.allocUnsafe(length);
        return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
      },
      (all) => all.subarray(at, at + length),
    );
  }

  /** A file that is not there, or not yet, is an empty one. */
  #look<T>(plain: (fd: number) => T, packed: (all: Buffer) => T): T {
    const fd = this.#unpacked ? null : orNull(() => openSync(this.#path, "r"));
    if (fd === null) {
      this.#unpacked ??= readPacked(this.#path);
      return packed(this.#unpacked ?? Buffer.alloc(0));
    }
    try {
      return plain(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** The whole of a file, packed or not; null if there is neither. */
export function readWhole(file: string): Buffer | null {
  return orNull(() => readFileSync(file)) ?? readPacked(file);
}

export const isThere = (file: string): boolean => existsSync(file) || existsSync(packedName(file));

function readPacked(file: string): Buffer | null {
  const packed = orNull(() => readFileSync(packedName(file)));
  return packed && gunzipSync(packed);
}

/**
 * Packs a file that nobody writes to any more. Only when the packed one has reached the disk is the plain one removed; a
 * repeat after a crash in between packs once more.
 */
export async function pack(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const beside = `${packedName(file)}.${process.pid}.new`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(beside, { mode: 0o600, flush: true }));
  await rename(beside, packedName(file));
  await syncFolder(dirname(file));
  await rm(file);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
