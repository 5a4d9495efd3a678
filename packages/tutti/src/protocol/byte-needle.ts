// Finds a short sequence of bytes in a stream of chunks, wherever the chunks are cut.

type Find = (bytes: Uint8Array, needle: Uint8Array, from: number) => number;

/** Node searches several bytes at once many times faster than a loop can; a browser has only the search for one byte. */
const find: Find =
  typeof Buffer === "undefined"
    ? findByFirstByte
    : (bytes, needle, from) => Buffer.prototype.indexOf.call(bytes, needle, from);

export class ByteNeedle {
  readonly #needle: Uint8Array;
  /** How many bytes at the end of what has been searched may be the beginning of the needle. */
  #begun = 0;

  constructor(needle: Uint8Array) {
    this.#needle = needle;
  }

  get length(): number {
    return this.#needle.length;
  }

  /** The position in the chunk behind the next needle; -1 if it has not been completed yet. */
  next(chunk: Uint8Array, from: number): number {
    if (this.#begun > 0) {
      const end = this.#acrossSeam(chunk, from);
      if (end !== -1) return end;
      if (this.#begun > 0) return -1;
    }
    const at = find(chunk, this.#needle, from);
    if (at !== -1) return at + this.#needle.length;
    this.#begun = this.#beginningAtEnd(chunk, Math.max(from, chunk.length - this.#needle.length + 1));
    return -1;
  }

  /** Forgets what has begun; the next search starts afresh. */
  reset(): void {
    this.#begun = 0;
  }

  /** A needle that began in an earlier chunk: only as much of this one is looked at as it could take. */
  #acrossSeam(chunk: Uint8Array, from: number): number {
    const needle = this.#needle;
    const head = chunk.subarray(from, from + needle.length - 1);
    const seam = new Uint8Array(this.#begun + head.length);
    seam.set(needle.subarray(0, this.#begun));
    seam.set(head, this.#begun);
    const at = find(seam, needle, 0);
    if (at !== -1) {
      const end = from + at + needle.length - this.#begun;
      this.#begun = 0;
      return end;
    }
    const isWholeChunk = head.length === chunk.length - from;
    this.#begun = isWholeChunk ? this.#beginningAtEnd(seam, Math.max(0, seam.length - needle.length + 1)) : 0;
    return -1;
  }

  #beginningAtEnd(bytes: Uint8Array, from: number): number {
    const needle = this.#needle;
    const first = needle[0];
    for (let at = from; at < bytes.length; at++) {
      if (bytes[at] === first && isBeginning(bytes, at, needle)) return bytes.length - at;
    }
    return 0;
  }
}

/** Whether the bytes from `at` to their end are the beginning of the needle. */
function isBeginning(bytes: Uint8Array, at: number, needle: Uint8Array): boolean {
  for (let index = at; index < bytes.length; index++) if (bytes[index] !== needle[index - at]) return false;
  return true;
}

export function findByFirstByte(bytes: Uint8Array, needle: Uint8Array, from: number): number {
  const last = bytes.length - needle.length;
  for (
    let at = bytes.indexOf(needle[0] ?? 0, from);
    at !== -1 && at <= last;
    at = bytes.indexOf(needle[0] ?? 0, at + 1)
  ) {
    let length = 1;
    while (length < needle.length && bytes[at + length] === needle[length]) length++;
    if (length === needle.length) return at;
  }
  return -1;
}
