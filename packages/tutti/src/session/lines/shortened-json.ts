// `ShortenedJson` shortens the long strings of a JSON text that arrives in pieces: each keeps its beginning and its
// end, and the text stays valid JSON. So a message with one huge member is still understood.
import { HeadAndTail, leftOut } from "./head-and-tail.ts";

/** A string longer than `MAX_STRING` loses its middle. */
const MAX_STRING = 3.5 * 1024 * 1024;
const BACKSLASH = 0x5c;

export class ShortenedJson {
  readonly #most: number;
  readonly #maxString: number;
  #pieces: string[] = [];
  #kept = 0;
  /** The string that continues in the next piece, without its quotes. */
  #string: HeadAndTail | null = null;
  /** Whether the last piece ended with a backslash that escapes the next character. */
  #isEscaped = false;

  /** The text is given up after `most` characters. */
  constructor(most: number, maxString = MAX_STRING) {
    this.#most = most;
    this.#maxString = maxString;
  }

  push(piece: string): void {
    if (this.#isTooLong) return;
    let from = 0;
    let at = 0;
    if (this.#string) {
      const end = this.#endOfString(piece, 0);
      this.#string.push(piece.slice(0, end));
      if (end === piece.length) return;
      this.#closeString();
      [from, at] = [end, end + 1];
    }
    for (let quote = piece.indexOf('"', at); quote >= 0; quote = piece.indexOf('"', at)) {
      const end = this.#endOfString(piece, quote + 1);
      at = end + 1;
      if (end < piece.length) continue;
      this.#keep(piece.slice(from, quote + 1));
      this.#string = new HeadAndTail(this.#maxString / 2);
      this.#string.push(piece.slice(quote + 1));
      return;
    }
    this.#keep(piece.slice(from));
  }

  /** Null if the text is too long although its strings are short. */
  end(): string | null {
    if (this.#string) this.#closeString();
    return this.#isTooLong ? null : this.#pieces.join("");
  }

  get #isTooLong(): boolean {
    return this.#kept > this.#most;
  }

  #keep(piece: string): void {
    this.#kept += piece.length;
    if (this.#isTooLong) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  /** The position of the closing quote, or the length of `piece` if it comes later. `from` is within the string. */
  #endOfString(piece: string, from: number): number {
    // A backslash at the end of the last piece escapes the first character of this one.
    let at = from + (this.#isEscaped ? 1 : 0);
    this.#isEscaped = false;
    for (;;) {
      const quote = piece.indexOf('"', at);
      const end = quote < 0 ? piece.length : quote;
      let slash = end;
      while (slash > at && piece.charCodeAt(slash - 1) === BACKSLASH) slash--;
      const isEscaped = (end - slash) % 2 === 1;
      if (quote < 0) this.#isEscaped = isEscaped;
      if (quote < 0 || !isEscaped) return end;
      at = quote + 1;
    }
  }

  #closeString(): void {
    const { head, tail, omitted } = this.#string!.parts();
    this.#string = null;
    if (omitted === 0) return this.#keep(head + tail);
    const start = startOfTail(tail);
    const first = withoutOpenEscape(head);
    const between = omitted + start + head.length - first.length;
    this.#keep(first + leftOut(between) + tail.slice(start));
  }
}

/** `withoutOpenEscape` removes an escape that is cut off at the end. */
function withoutOpenEscape(head: string): string {
  const code = /u[0-9a-fA-F]{0,3}$/.exec(head.slice(-4))?.[0] ?? "";
  const end = head.length - code.length;
  let slash = end;
  while (slash > 0 && head.charCodeAt(slash - 1) === BACKSLASH) slash--;
  // After an even number of backslashes, which are escaped ones, a `u` is a letter.
  return (end - slash) % 2 === 0 ? head : head.slice(0, end - 1);
}

/**
 * `startOfTail` is certainly not within an escape: before a backslash that follows another character, or after the
 * length of the longest escape without a backslash.
 */
function startOfTail(tail: string): number {
  const clean = /[^\\](?=\\)|[^\\]{6}/.exec(tail);
  return clean ? clean.index + clean[0].length : tail.length;
}
