// A block between its start delimiter and the end delimiter that really ends it. An end delimiter may also stand inside
// a string of the block, for example in a summary about this very format, and a start delimiter may be mentioned in
// passing. The block is ended at the first end delimiter that leaves no string open; if none does, at the first one.
import { MISSING_END, readBlock } from "./block.ts";
import type { ScannedBlock } from "./block.ts";

export interface Delimiters {
  delimiterStart: string;
  delimiterEnd: string;
}

/** A block that waits for the end of a string gives up after this many end delimiters, or this many readings. */
const MOST_ENDS = 32;
const MOST_READINGS = 2;

/**
 * What an end delimiter did. A block that gave up was ended by its first end delimiter after all, and what has been read
 * since then must be scanned again.
 */
export type Closing = { isOpen: true } | { isOpen: false; blocks: ScannedBlock[]; gaveUp: boolean };

export class OpenBlock {
  readonly #delimiters: Delimiters;
  #text = "";
  /** What the first end delimiter made of the block, while we wait for a better one. */
  #first: ScannedBlock | null = null;
  #string: OpenString | null = null;
  #ends = 0;
  #readings = 0;

  constructor(delimiters: Delimiters) {
    this.#delimiters = delimiters;
  }

  /** An end delimiter was found; `segment` is the text since the start delimiter or the end delimiter before. */
  close(segment: string): Closing {
    return this.#first === null ? this.#closeFirst(segment) : this.#closeLater(segment, this.#first);
  }

  /** Whether an end delimiter has been passed that may have stood inside a string. */
  get isWaiting(): boolean {
    return this.#first !== null;
  }

  /** The text has ended; `segment` is what came after the last delimiter. */
  finish(segment: string): Closing {
    if (this.#first !== null) return { isOpen: false, blocks: [this.#first], gaveUp: true };
    return decided([unclosed(this.#withoutMentions(segment))]);
  }

  #closeFirst(segment: string): Closing {
    const hasStart = segment.includes(this.#delimiters.delimiterStart);
    const text = hasStart ? this.#withoutMentions(segment) : segment;
    const restarted = hasStart ? this.#restarted(text) : null;
    if (restarted !== null) return decided(restarted);
    const { block, openQuote } = readBlock(text);
    if (openQuote === "") return decided([block]);
    this.#text = text;
    this.#first = block;
    this.#string = new OpenString(openQuote);
    return { isOpen: true };
  }

  #closeLater(segment: string, first: ScannedBlock): Closing {
    const gaveUp: Closing = { isOpen: false, blocks: [first], gaveUp: true };
    this.#text += this.#delimiters.delimiterEnd + segment;
    this.#string?.read(segment);
    this.#ends++;
    if (this.#isStrictBlock(this.#afterLastStart(segment))) return gaveUp;
    if (this.#string?.isOpen === false) {
      const { block } = readBlock(this.#text);
      if (block.ok) return decided([block]);
      this.#readings++;
    }
    return this.#ends >= MOST_ENDS || this.#readings >= MOST_READINGS ? gaveUp : { isOpen: true };
  }

  /** A start delimiter that no object follows before the next one was only talked about. */
  #withoutMentions(segment: string): string {
    const { delimiterStart } = this.#delimiters;
    const brace = segment.indexOf("{");
    let from = 0;
    for (;;) {
      const next = segment.indexOf(delimiterStart, from);
      if (next === -1 || (brace !== -1 && brace < next)) return segment.slice(from);
      from = next + delimiterStart.length;
    }
  }

  /** An agent that broke off and began again: the part before the last start delimiter was never closed. */
  #restarted(text: string): ScannedBlock[] | null {
    const last = this.#afterLastStart(text);
    if (last === "" || isJson(text) || !this.#isStrictBlock(last)) return null;
    const broken = text.slice(0, text.length - last.length - this.#delimiters.delimiterStart.length);
    return [unclosed(broken), readBlock(last).block];
  }

  #afterLastStart(text: string): string {
    const { delimiterStart } = this.#delimiters;
    const at = text.lastIndexOf(delimiterStart);
    return at === -1 ? "" : text.slice(at + delimiterStart.length);
  }

  /** A block quoted inside a string has its quotes escaped and is therefore not JSON by itself. */
  #isStrictBlock(text: string): boolean {
    return text !== "" && isJson(text) && readBlock(text).block.ok;
  }
}

/** Follows a string of JSON from segment to segment, to know whether one is open. */
class OpenString {
  isOpen = true;
  readonly #quote: string;
  #isEscaped = false;

  constructor(quote: string) {
    this.#quote = quote;
  }

  read(segment: string): void {
    for (const sign of segment) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (sign === "\\") this.#isEscaped = true;
      else if (sign === this.#quote) this.isOpen = !this.isOpen;
    }
  }
}

function decided(blocks: ScannedBlock[]): Closing {
  return { isOpen: false, blocks, gaveUp: false };
}

function unclosed(content: string): ScannedBlock {
  const { block } = readBlock(content);
  const isCut = !block.ok && block.code === "truncated";
  const message = isCut ? `${MISSING_END}: the block breaks off` : MISSING_END;
  return { ok: false, code: isCut ? "truncated" : "no_end_delimiter", message, raw: content.trim() };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
