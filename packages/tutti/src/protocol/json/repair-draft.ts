// `RepairDraft` is the working state of one repair: the damaged text, a cursor, and the JSON written so far. Edits run
// from left to right and never overlap; text without edits is copied unchanged. Both texts are held as UTF-16 code
// units, because typed arrays are much cheaper here than string slices.

/**
 * After a `guess` among the `REPAIRS`, such as an inserted comma, the text could also have meant something else.
 * Callers must then check that no member ended up in the wrong object.
 */
const REPAIRS = {
  "byte-order mark": { guess: false },
  "unusual white space": { guess: false },
  "terminal colours": { guess: false },
  "escaped line break between values": { guess: false },
  comment: { guess: false },
  "markdown fence": { guess: false },
  "quoted lines": { guess: false },
  "text around the object": { guess: false },
  "JSON inside a string": { guess: false },
  "trailing comma": { guess: false },
  "extra comma": { guess: true },
  "missing comma": { guess: true },
  "other sign for a comma": { guess: false },
  "missing colon": { guess: true },
  "other sign for a colon": { guess: false },
  "unquoted key": { guess: false },
  "unquoted value": { guess: false },
  "unquoted text with spaces": { guess: true },
  "single quotes": { guess: false },
  "typographic quotes": { guess: false },
  "backtick quotes": { guess: false },
  "triple quotes": { guess: false },
  "unescaped quotes in a string": { guess: true },
  "missing quote": { guess: true },
  "extra quote": { guess: true },
  "string prefix": { guess: false },
  "joined strings": { guess: false },
  "line break in a string": { guess: false },
  "control character in a string": { guess: false },
  "escaped line break in a string": { guess: false },
  "unknown escape": { guess: false },
  "literal of another language": { guess: false },
  "number format": { guess: false },
  "type wrapper": { guess: false },
  "tuple for a list": { guess: false },
  "missing closing bracket": { guess: true },
  "extra closing bracket": { guess: true },
  "something left out (...)": { guess: false },
  "unfinished end": { guess: false },
} as const satisfies Record<string, { guess: boolean }>;

export type Repair = keyof typeof REPAIRS;

/** `cut`: the text ended within the token. `refused`: it is ambiguous. */
export type TokenOutcome = "read" | "cut" | "refused";

/** `Buffer` copies UTF-16 strings fast on little-endian machines. Otherwise a loop copies them. */
const hasFastCopy = typeof Buffer !== "undefined" && new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
/** Below `FEW_SIGNS` a loop copies faster than a call. */
const FEW_SIGNS = 100;
/** A piece longer than `PIECE` is copied as a slice of the text, not code unit by code unit. */
const PIECE = 65536;
const LARGEST_CALL = 8192;
/** Buffers up to `KEPT_SIGNS` are reused: allocating them costs as much as reading the text. */
const KEPT_SIGNS = 262_144;
const QUOTE = 34;

/** All drafts share `keptText` and `keptResult`. A repair is synchronous, so only one runs at a time. */
let keptText = new Uint16Array();
let keptResult = new Uint16Array();

/** A `Mark` is a position in the text and the amount of output written when the cursor was there. */
export class Mark {
  /** -1 if the mark is not set. */
  at = -1;
  written = 0;
  copied = 0;

  set(draft: RepairDraft, at: number): void {
    this.at = at;
    this.written = draft.written;
    this.copied = draft.copied;
  }
}

export class RepairDraft {
  readonly text: string;
  /**
   * The code units of the text, followed by a zero. They differ from the text only where `makeQuote` has set a quote.
   */
  readonly signs: Uint16Array;
  pos: number;
  /** `written` counts the code units in `#recent`. The text before `copied` has been written or replaced. */
  written = 0;
  copied: number;
  /** `refusal` is the first reason why the text cannot be repaired. */
  refusal = "";
  /** The quote of the string in which the text ended, if it did. The text after it may belong to that string. */
  openQuote = "";
  /** The number of keys read, which reveals repeated names in one object. */
  keys = 0;
  /** True if a key may decode to `__proto__`. */
  hasUnusualKeys = false;
  /** `good` is the end of the text that is known to be sound, which can be rendered even if the rest is missing. */
  readonly good = new Mark();
  readonly #repairs: Repair[] = [];
  /** `undo` does not reach into `#settled`. */
  #settled = "";
  #recent = keptResult;
  #lastNote: Repair | "" = "";
  /** True if `makeQuote` has changed code units that are not copied yet. */
  #hasMadeQuotes = false;

  constructor(text: string, start: number) {
    this.text = text;
    this.signs = signsOf(text);
    this.pos = start;
    this.copied = start;
  }

  /** `repairs` are in order of first use. */
  get repairs(): readonly Repair[] {
    return this.#repairs;
  }

  get guessed(): boolean {
    return this.#repairs.some((repair) => REPAIRS[repair].guess);
  }

  note(repair: Repair): void {
    if (repair === this.#lastNote) return;
    this.#lastNote = repair;
    if (!this.#repairs.includes(repair)) this.#repairs.push(repair);
  }

  edit(repair: Repair, start: number, end: number, replacement: string): void {
    this.note(repair);
    this.replace(start, end, replacement);
  }

  /** Unlike `edit`, records no repair. */
  replace(start: number, end: number, replacement: string): void {
    this.#copy(start, replacement.length);
    const recent = this.#recent;
    for (let at = 0; at < replacement.length; at++) recent[this.written++] = replacement.charCodeAt(at);
    this.copied = end;
  }

  addQuotes(repair: Repair, start: number, end: number): void {
    this.note(repair);
    this.#copy(start, 1);
    this.#recent[this.written++] = QUOTE;
    this.#copy(end, 1);
    this.#recent[this.written++] = QUOTE;
  }

  /**
   * Replaces the code unit at `at` by a double quote in `signs` itself, so that long pieces can be copied at once.
   * `undo` does not revert `makeQuote`: call it only for the certain quote of a string.
   */
  makeQuote(at: number): void {
    this.signs[at] = QUOTE;
    this.#hasMadeQuotes = true;
  }

  /** Marks the text up to `at` as sound. After `settle`, no earlier `Mark` may be passed to `undo`. */
  settle(at: number): void {
    if (at - this.copied > PIECE && this.#hasMadeQuotes) {
      this.#copy(at, 0);
      this.#hasMadeQuotes = false;
    } else if (at - this.copied > PIECE) {
      this.#settled += textOf(this.#recent, this.written) + this.text.slice(this.copied, at);
      this.written = 0;
      this.copied = at;
    }
    this.good.set(this, at);
  }

  /** Reverts all edits since the mark, and all but the first `notes` repairs. */
  undo(mark: Mark, notes: number = this.#repairs.length): void {
    this.written = mark.written;
    this.copied = mark.copied;
    this.#repairs.length = notes;
    this.#lastNote = "";
  }

  refuse(reason: string): "refused" {
    this.refusal ||= `${reason} at character ${this.pos + 1}`;
    return "refused";
  }

  /** Returns the sound part of the text with all edits, followed by `closing`. */
  render(closing: string): string {
    this.undo(this.good);
    this.replace(this.good.at, this.good.at, closing);
    return this.#settled + textOf(this.#recent, this.written);
  }

  /** Copies the text up to `end` unchanged and reserves room for `more` code units. */
  #copy(end: number, more: number): void {
    const { signs, copied } = this;
    const count = end - copied;
    if (this.written + count + more > this.#recent.length) this.#grow(count + more);
    const recent = this.#recent;
    if (count > FEW_SIGNS) {
      recent.set(signs.subarray(copied, end), this.written);
      this.written += count;
      this.copied = end;
      return;
    }
    let to = this.written;
    for (let at = copied; at < end; at++) recent[to++] = signs[at]!;
    this.written = to;
    this.copied = end;
  }

  /** The first `#grow` reserves room for the whole remaining text and some edits. */
  #grow(more: number): void {
    const rest = this.text.length - this.copied;
    const grown = new Uint16Array(this.written + (this.written >> 1) + more + rest + (rest >> 3) + FEW_SIGNS);
    grown.set(this.#recent.subarray(0, this.written));
    this.#recent = grown;
    if (grown.length <= KEPT_SIGNS) keptResult = grown;
  }
}

function signsOf(text: string): Uint16Array {
  const signs = text.length < keptText.length ? keptText : new Uint16Array(text.length + 1);
  if (signs.length <= KEPT_SIGNS) keptText = signs;
  if (hasFastCopy) Buffer.from(signs.buffer).write(text, "utf16le");
  else for (let at = 0; at < text.length; at++) signs[at] = text.charCodeAt(at);
  signs[text.length] = 0;
  return signs;
}

function textOf(signs: Uint16Array, length: number): string {
  if (hasFastCopy) return Buffer.from(signs.buffer, 0, 2 * length).toString("utf16le");
  let text = "";
  for (let at = 0; at < length; at += LARGEST_CALL)
    text += String.fromCharCode(...signs.subarray(at, Math.min(length, at + LARGEST_CALL)));
  return text;
}
