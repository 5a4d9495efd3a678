const FIRST_CAPACITY = 4096;
const NO_BYTES = new Uint8Array(0);
/** Beyond `KEPT_CAPACITY`, `clear` releases the buffer instead of reusing it for the next block. */
const KEPT_CAPACITY = 65536;

export class GrowingBytes {
  length = 0;
  /** Allocated by the first `append`: most blocks come in one piece and are not buffered. */
  #bytes = NO_BYTES;

  append(chunk: Uint8Array): void {
    const length = this.length + chunk.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(FIRST_CAPACITY, length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.length);
    this.length = length;
  }

  /** The returned view is valid until the next `append` or `clear`. */
  view(start: number, end: number = this.length): Uint8Array {
    return this.#bytes.subarray(start, end);
  }

  clear(): void {
    this.length = 0;
    if (this.#bytes.length > KEPT_CAPACITY) this.#bytes = NO_BYTES;
  }
}
