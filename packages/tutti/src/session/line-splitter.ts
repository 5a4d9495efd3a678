// Bytes into lines. A character or a line may be cut anywhere between two pushes; of a line that is too long
// only the beginning is kept, so that no program can fill our memory.
import { StringDecoder } from "node:string_decoder";

/** Characters, which in memory may take twice as many bytes. */
export const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
/** What is kept of the beginning of a longer line. */
const HEAD = 64 * 1024;

export class LineSplitter {
  readonly #utf8 = new StringDecoder("utf8");
  readonly #onDropped: (head: string, length: number) => void;
  /** Pieces of the line that is open; joined once it is whole, so that a long line is not copied again and again. */
  #pieces: string[] = [];
  #length = 0;
  #head = "";

  constructor(onDropped: (head: string, length: number) => void = () => {}) {
    this.#onDropped = onDropped;
  }

  *push(bytes: Uint8Array): Generator<string> {
    // What is dropped anyway need not be decoded; of a line as long as this, bytes count as characters.
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

  /** The line that has no end, if there is one. */
  *flush(): Generator<string> {
    this.#extend(this.#utf8.end());
    if (this.#length > 0) yield* this.#take();
  }

  #extend(piece: string): void {
    const before = this.#length;
    this.#length += piece.length;
    if (this.#length <= MAX_LINE) {
      if (piece !== "") this.#pieces.push(piece);
      return;
    }
    if (before <= MAX_LINE) this.#head = beginningOf([...this.#pieces, piece]);
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

/** The lines of a stream. The interface for lines of Node also ends them at signs that may stand within JSON. */
export async function* linesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const bytes of input) yield* splitter.push(Buffer.from(bytes as Uint8Array));
  yield* splitter.flush();
}

/** Put together from no more than is needed: the rest is to be forgotten. */
function beginningOf(pieces: readonly string[]): string {
  let text = "";
  for (const piece of pieces) {
    text += piece.slice(0, HEAD - text.length);
    if (text.length >= HEAD) break;
  }
  return text;
}
