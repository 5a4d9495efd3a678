// A block whose end delimiter has not been found yet. An end delimiter may also occur inside a string of the block, for
// example in a summary about this format, and a start delimiter may be mentioned in prose. `OpenBlock` ends at the
// first end delimiter that leaves no string open, or at the very first one if none does.
import { MISSING_END, readBlock, type ScannedBlock } from "./block.ts";
import { parseJson } from "../json/json-value.ts";

export interface Delimiters {
  delimiterStart: string;
  delimiterEnd: string;
}

/**
 * A block that waits for the end of a string gives up after `MOST_ENDS` delimiters or `MOST_READINGS` failed readings.
 */
const MOST_ENDS = 32;
const MOST_READINGS = 2;

/** With `gaveUp` the first end delimiter ended the block after all, and the scanner must rescan the text after it. */
export type Closing = { isOpen: true } | { isOpen: false; blocks: ScannedBlock[]; gaveUp: boolean };

export class OpenBlock {
  readonly #delimiters: Delimiters;
  readonly #maxRepair: number | undefined;
  #text = "";
  /** The block as read up to the first end delimiter, kept while a later one may close the string. */
  #first: ScannedBlock | null = null;
  #string: OpenString | null = null;
  #ends = 0;
  #readings = 0;

  constructor(delimiters: Delimiters, maxRepair?: number) {
    this.#delimiters = delimiters;
    this.#maxRepair = maxRepair;
  }

  /** Handles an end delimiter. `segment` is the text since the previous delimiter. */
  close(segment: string): Closing {
    return this.#first === null ? this.#closeFirst(segment) : this.#closeLater(segment, this.#first);
  }

  /** True after an end delimiter that may be part of a string. */
  get isWaiting(): boolean {
    return this.#first !== null;
  }

  /** Handles the end of the text. `segment` is the text since the last delimiter. */
  finish(segment: string): Closing {
    if (this.#first !== null) return { isOpen: false, blocks: [this.#first], gaveUp: true };
    return decided([unclosed(this.#withoutMentions(segment), this.#maxRepair)]);
  }

  #closeFirst(segment: string): Closing {
    const hasStart = segment.includes(this.#delimiters.delimiterStart);
    const text = hasStart ? this.#withoutMentions(segment) : segment;
    const restarted = hasStart ? this.#restarted(text) : null;
    if (restarted !== null) return decided(restarted);
    const { block, openQuote } = readBlock(text, this.#maxRepair);
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
      const { block } = readBlock(this.#text, this.#maxRepair);
      if (block.ok) return decided([block]);
      this.#readings++;
    }
    return this.#ends >= MOST_ENDS || this.#readings >= MOST_READINGS ? gaveUp : { isOpen: true };
  }

  /** Prose mentions start delimiters, so `#withoutMentions` drops those that no object follows. */
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

  /** Detects an agent that broke off and started again: before the last `delimiterStart` is an unclosed block. */
  #restarted(text: string): ScannedBlock[] | null {
    const last = this.#afterLastStart(text);
    if (last === "" || isJson(text) || !this.#isStrictBlock(last)) return null;
    const broken = text.slice(0, text.length - last.length - this.#delimiters.delimiterStart.length);
    return [unclosed(broken, this.#maxRepair), readBlock(last).block];
  }

  #afterLastStart(text: string): string {
    const { delimiterStart } = this.#delimiters;
    const at = text.lastIndexOf(delimiterStart);
    return at === -1 ? "" : text.slice(at + delimiterStart.length);
  }

  /** A block quoted inside a string has escaped quotes and is therefore not JSON by itself. */
  #isStrictBlock(text: string): boolean {
    return text !== "" && isJson(text) && readBlock(text).block.ok;
  }
}

/** `OpenString` tracks across segments whether a JSON string is open. */
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

function unclosed(content: string, maxRepair: number | undefined): ScannedBlock {
  const { block } = readBlock(content, maxRepair);
  const isCut = !block.ok && block.code === "truncated";
  const message = isCut ? `${MISSING_END}: the block breaks off` : MISSING_END;
  return { ok: false, code: isCut ? "truncated" : "no_end_delimiter", message, raw: content.trim() };
}

const isJson = (text: string): boolean => parseJson(text) !== undefined;
