// Splits bytes into lines. A push may end in the middle of a character or a line. A line longer than MAX_LINE loses its
// middle, so that no program can exhaust the memory.
import { StringDecoder } from "node:string_decoder";
import { HeadAndTail } from "./head-and-tail.ts";
import { ShortenedJson } from "./shortened-json.ts";

/** In UTF-16 units, which take up to two bytes each in memory. */
export const MAX_LINE = 4 * 1024 * 1024;
/** From `LONG` on, `#shortened` takes the pieces as they come: handling them all at once would take long. */
const LONG = 512 * 1024;
const OBJECT = /^\s*\{/;

export class LineSplitter {
  readonly #utf8 = new StringDecoder("utf8");
  readonly #onLine: (line: string) => void;
  readonly #onDropped: (length: number) => void;
  /** Pieces of the unfinished line, joined only at its end: extending one string would copy a long line repeatedly. */
  #pieces: string[] = [];
  #length = 0;
  /** Takes the place of `#pieces` when the line is long. */
  #shortened: ShortenedLine | null = null;

  /** `onDropped` is called for a JSON object that stays too long without the middle of its strings. */
  constructor(onLine: (line: string) => void, onDropped: (length: number) => void = () => {}) {
    this.#onLine = onLine;
    this.#onDropped = onDropped;
  }

  push(bytes: Uint8Array): void {
    const text = this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const piece = text.slice(from, end);
      from = end + 1;
      // Most lines are short and come in one piece.
      if (this.#length === 0 && piece.length <= LONG) this.#onLine(piece);
      else {
        this.#extend(piece);
        this.#take();
      }
    }
    this.#extend(from === 0 ? text : text.slice(from));
  }

  flush(): void {
    this.#extend(this.#utf8.end());
    if (this.#length > 0) this.#take();
  }

  #extend(piece: string): void {
    if (piece === "") return;
    this.#length += piece.length;
    if (this.#shortened) return this.#shortened.push(piece);
    this.#pieces.push(piece);
    if (this.#length <= LONG) return;
    this.#shortened = shortenedLine(this.#pieces);
    for (const each of this.#pieces) this.#shortened.push(each);
    this.#pieces = [];
  }

  #take(): void {
    const length = this.#length;
    const line = this.#shortened ? this.#shortened.end() : joined(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    this.#shortened = null;
    if (line === null) this.#onDropped(length);
    else this.#onLine(line);
  }
}

interface ShortenedLine {
  push(piece: string): void;
  /** Null if the line must be dropped. */
  end(): string | null;
}

/** A line that begins like an `OBJECT` must stay one: cut anywhere, its content would count as the agent's text. */
function shortenedLine(pieces: readonly string[]): ShortenedLine {
  const beginning = pieces.find((piece) => piece.trim() !== "");
  if (beginning !== undefined && OBJECT.test(beginning)) return new ShortenedJson(MAX_LINE);
  const kept = new HeadAndTail(MAX_LINE / 2);
  return { push: (piece) => kept.push(piece), end: () => kept.text() };
}

const joined = (pieces: readonly string[]): string => (pieces.length === 1 ? pieces[0]! : pieces.join(""));

/** Takes the place of a message that `LineSplitter` dropped. */
export const droppedMessage = (length: number): string => `[a message of ${length} characters was dropped]`;

/** Unlike `node:readline`, splits at line feeds only: JSON may contain the other line separators of Unicode. */
export async function* linesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  let lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for await (const bytes of input) {
    splitter.push(Buffer.from(bytes as Uint8Array));
    yield* lines;
    lines = [];
  }
  splitter.flush();
  yield* lines;
}
