// Finds a short sequence of bytes in a stream of chunks, wherever the chunks are cut.
//
// One byte is found many times faster than several. So one byte of the needle is looked for, and the rest is compared
// where it stands; if the text has too many of it, another one is tried. When all are frequent, the needle is looked for
// as a whole, which costs about as much as if nothing had been tried.

type Find = (bytes: Uint8Array, needle: Uint8Array, from: number) => number;

/** Node searches several bytes at once many times faster than a loop can; a browser has only the search for one byte. */
const find: Find =
  typeof Buffer === "undefined"
    ? findByFirstByte
    : (bytes, needle, from) => Buffer.prototype.indexOf.call(bytes, needle, from);

/** How often a byte may be found in vain: a few times, and then so often per bytes searched. */
const FREE_MISSES = 4;
const BYTES_PER_MISS = 512;
/** How many searches are made for the whole needle before single bytes are tried again. */
const WHOLE_SEARCHES = 256;

export class ByteNeedle {
  readonly #needle: Uint8Array;
  /** Where in the needle each of its bytes stands first, and the one that is looked for. */
  readonly #places: number[];
  #chosen = 0;
  #failures = 0;
  #wholeSearches = 0;
  /** How many bytes at the end of what has been searched may be the beginning of the needle. */
  #begun = 0;

  constructor(needle: Uint8Array) {
    this.#needle = needle;
    this.#places = [...new Set(needle)].map((byte) => needle.indexOf(byte));
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
    const at = this.#find(chunk, from);
    if (at !== -1) return at + this.#needle.length;
    this.#begun = this.#beginningAtEnd(chunk, Math.max(from, chunk.length - this.#needle.length + 1));
    return -1;
  }

  /** Forgets what has begun; the next search starts afresh. */
  reset(): void {
    this.#begun = 0;
  }

  #find(chunk: Uint8Array, from: number): number {
    const needle = this.#needle;
    if (this.#wholeSearches > 0) {
      this.#wholeSearches--;
      return find(chunk, needle, from);
    }
    const place = this.#places[this.#chosen] ?? 0;
    const byte = needle[place] ?? 0;
    let misses = 0;
    for (let at = chunk.indexOf(byte, from + place); at !== -1; at = chunk.indexOf(byte, at + 1)) {
      if (isAt(chunk, at - place, needle)) return at - place;
      misses++;
      if (misses > FREE_MISSES + (at - from) / BYTES_PER_MISS) {
        this.#chooseNext();
        return find(chunk, needle, at - place + 1);
      }
    }
    this.#failures = 0;
    return -1;
  }

  /** The byte that was chosen is too frequent here. */
  #chooseNext(): void {
    this.#chosen = (this.#chosen + 1) % this.#places.length;
    this.#failures++;
    if (this.#failures < this.#places.length) return;
    this.#failures = 0;
    this.#wholeSearches = WHOLE_SEARCHES;
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

function isAt(bytes: Uint8Array, at: number, needle: Uint8Array): boolean {
  for (let index = 0; index < needle.length; index++) if (bytes[at + index] !== needle[index]) return false;
  return true;
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
    if (isAt(bytes, at, needle)) return at;
  }
  return -1;
}
