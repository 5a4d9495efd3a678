// Finds a short byte sequence in a stream of chunks, wherever the chunks are cut.
//
// Searching for one byte is many times faster than searching for several. `ByteNeedle` therefore searches for one byte
// of the needle and compares the rest where it occurs. If that byte is too frequent, it tries another byte of the needle. If
// all are frequent, it searches for the whole needle, so the wasted work is small.

type Find = (bytes: Uint8Array, needle: Uint8Array, from: number) => number;

/** `Buffer.indexOf` is many times faster than a loop. Browsers only have the search for a single byte. */
const find: Find =
  typeof Buffer === "undefined"
    ? findByFirstByte
    : (bytes, needle, from) => Buffer.prototype.indexOf.call(bytes, needle, from);

/**
 * Limits of failed matches before another byte is tried: `FREE_MISSES`, plus one per `BYTES_PER_MISS` bytes searched.
 */
const FREE_MISSES = 4;
const BYTES_PER_MISS = 512;
/** After `WHOLE_SEARCHES` searches for the whole needle, single bytes are tried again. */
const WHOLE_SEARCHES = 256;

/** By needle, because every session searches for the same ones. */
const offsets = new WeakMap<Uint8Array, readonly number[]>();

export class ByteNeedle {
  readonly #needle: Uint8Array;
  /** Offset in the needle of the first occurrence of each distinct byte. `#chosen` indexes this list. */
  readonly #offsets: readonly number[];
  #chosen = 0;
  #failures = 0;
  #wholeSearches = 0;
  /** `#begun` bytes of the needle match the end of the last chunk. */
  #begun = 0;

  constructor(needle: Uint8Array) {
    this.#needle = needle;
    this.#offsets = offsets.get(needle) ?? [...new Set(needle)].map((byte) => needle.indexOf(byte));
    offsets.set(needle, this.#offsets);
  }

  get length(): number {
    return this.#needle.length;
  }

  /** Returns the position after the next match; -1 if the chunk completes none. */
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

  reset(): void {
    this.#begun = 0;
  }

  #find(chunk: Uint8Array, from: number): number {
    const needle = this.#needle;
    if (this.#wholeSearches > 0) {
      this.#wholeSearches--;
      return find(chunk, needle, from);
    }
    const offset = this.#offsets[this.#chosen] ?? 0;
    const byte = needle[offset] ?? 0;
    let misses = 0;
    for (let at = chunk.indexOf(byte, from + offset); at !== -1; at = chunk.indexOf(byte, at + 1)) {
      if (isAt(chunk, at - offset, needle)) return at - offset;
      misses++;
      if (misses > FREE_MISSES + (at - from) / BYTES_PER_MISS) {
        this.#chooseNext();
        return find(chunk, needle, at - offset + 1);
      }
    }
    this.#failures = 0;
    return -1;
  }

  /** Called when `#chosen` is too frequent in this text. */
  #chooseNext(): void {
    this.#chosen = (this.#chosen + 1) % this.#offsets.length;
    this.#failures++;
    if (this.#failures < this.#offsets.length) return;
    this.#failures = 0;
    this.#wholeSearches = WHOLE_SEARCHES;
  }

  /** Matches a needle that began in an earlier chunk. `#acrossSeam` reads only the bytes that can complete it. */
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

/** Whether the bytes from `at` to the end are a prefix of `needle`. */
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
