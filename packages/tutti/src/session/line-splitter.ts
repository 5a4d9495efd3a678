// Splits bytes into lines. A push may end in the middle of a character or a line. Of a line longer than MAX_LINE only
// the beginning is kept, so that no program can exhaust the memory.
import { StringDecoder } from "node:string_decoder";

/** In UTF-16 units, which take up to two bytes each in memory. */
export const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
/** The length of the beginning that is kept of a longer line. */
const HEAD = 64 * 1024;

export class LineSplitter {
  readonly #utf8 = new StringDecoder("utf8");
  readonly #onDropped: (head: string, length: number) => void;
  /** Pieces of the unfinished line, joined only at its end: extending one string would copy a long line repeatedly. */
  #pieces: string[] = [];
  #length = 0;
  #head = "";

  constructor(onDropped: (head: string, length: number) => void = () => {}) {
    this.#onDropped = onDropped;
  }

  *push(bytes: Uint8Array): Generator<string> {
    // The line is dropped anyway, so skip decoding and count bytes as characters.
    if (this.#length > MAX_LINE && !bytes.includes(NEWLINE)) {
      this.#length += bytes.length;
      return;
    }
    const text = this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#extend(text.slice(from, end));
      from = end + 1;
      yield* this.#take();
    }
    this.#extend(from === 0 ? text : text.slice(from));
  }

  /** Yields the unfinished line, if there is one. */
  *flush(): Generator<string> {
    this.#extend(this.#utf8.end());
    if (this.#length > 0) yield* this.#take();
  }

  #extend(piece: string): void {
    const previousLength = this.#length;
    this.#length += piece.length;
    if (this.#length <= MAX_LINE) {
      if (piece !== "") this.#pieces.push(piece);
      return;
    }
    if (previousLength <= MAX_LINE) this.#head = beginningOf([...this.#pieces, piece]);
    this.#pieces = [];
  }

  *#take(): Generator<string> {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : this.#pieces.join("");
    const length = this.#length;
    const head = this.#head;
    this.#pieces = [];
    this.#length = 0;
    this.#head = "";
    if (length > MAX_LINE) this.#onDropped(head, length);
    else yield line;
  }
}

/** Unlike `node:readline`, splits at line feeds only: JSON may contain the other line separators of Unicode. */
export async function* linesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const bytes of input) yield* splitter.push(Buffer.from(bytes as Uint8Array));
  yield* splitter.flush();
}

/** Copies at most HEAD characters, so that the rest can be garbage collected. */
function beginningOf(pieces: readonly string[]): string {
  let text = "";
  for (const piece of pieces) {
    text += piece.slice(0, HEAD - text.length);
    if (text.length >= HEAD) break;
  }
  return text;
}
