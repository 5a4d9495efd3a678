// The work sheet of one repair: the damaged text, a cursor, and the JSON written so far. Edits are made from left to
// right and never overlap; what no edit touches is copied as it stands. Both texts are kept as numbers, because reading
// and writing numbers costs a fraction of what pieces of strings cost.

/**
 * Everything a repair may do. A guess is a repair after which the text could also have meant something else, for example
 * a comma that was not there: whoever reads the result must check that nothing ended up in the wrong place.
 */
export const REPAIRS = {
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

/** How reading a token ended. `cut`: the text ended within it. `refused`: it can be read in several ways. */
export type Reading = "read" | "cut" | "refused";

/** Node copies a string as it is stored; where there is no Buffer, or numbers are stored otherwise, a loop does it. */
const hasFastCopy = typeof Buffer !== "undefined" && new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
/** A loop copies a few signs faster than a call does. */
const FEW_SIGNS = 100;
/** A piece of the text as long as this is not copied sign by sign but taken as it is. */
const PIECE = 65536;
const LARGEST_CALL = 8192;
/** Memory for texts up to this size is kept for the next one: getting it anew costs as much as reading them. */
const KEPT_SIGNS = 262_144;
const QUOTE = 34;

/** There is never more than one repair at work, because a repair waits for nothing. */
let keptText = new Uint16Array();
let keptResult = new Uint16Array();

/** A place in the text, and how much had been written when the cursor was there. */
export class Mark {
  /** -1 if there is no such place. */
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
  /** The text as numbers, with a zero behind its end. Only quotes that were made are not as they stand in the text. */
  readonly signs: Uint16Array;
  pos: number;
  /** How many signs have been written and not put away, and up to where the text has been dealt with. */
  written = 0;
  copied: number;
  /** Why the text cannot be repaired; the first reason stays. */
  refusal = "";
  /** The quote of the string in which the text ended, if it did: what follows the text may belong to that string. */
  openQuote = "";
  /** Keys met, to notice when two of one object have the same name. */
  keys = 0;
  /** Whether one of them may be another than it looks, or begins like the one name that no member may have. */
  hasUnusualKeys = false;
  /** Up to here the text is sound and can be shown even if the rest is missing. */
  readonly good = new Mark();
  readonly #repairs: Repair[] = [];
  /** What was written and will not be taken back. */
  #settled = "";
  /** What was written since then. */
  #recent = keptResult;
  #lastNote: Repair | "" = "";
  /** Whether signs have been changed that are not copied yet. */
  #hasMadeQuotes = false;

  /** A repair of what begins at `start`. */
  constructor(text: string, start: number) {
    this.text = text;
    this.signs = signsOf(text);
    this.pos = start;
    this.copied = start;
  }

  /** Every kind of repair that was noted, in the order in which they were first met. */
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

  /** An edit whose reasons have been noted already. */
  replace(start: number, end: number, replacement: string): void {
    this.#copy(start, replacement.length);
    const recent = this.#recent;
    for (let at = 0; at < replacement.length; at++) recent[this.written++] = replacement.charCodeAt(at);
    this.copied = end;
  }

  /** Puts double quotes around what stands there. */
  addQuotes(repair: Repair, start: number, end: number): void {
    this.note(repair);
    this.#copy(start, 1);
    this.#recent[this.written++] = QUOTE;
    this.#copy(end, 1);
    this.#recent[this.written++] = QUOTE;
  }

  /**
   * Makes a double quote of the sign at `at`. This is done in the text itself, so that it can be copied in long pieces,
   * and is not taken back: only what is certain to be the quote of a string may be changed.
   */
  makeQuote(at: number): void {
    this.signs[at] = QUOTE;
    this.#hasMadeQuotes = true;
  }

  /** Says that everything up to `at` is sound. No mark that was set before is returned to from here on. */
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

  /** Takes back all edits since the mark, and all notes but the first ones. */
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

  /** The text as far as it is sound, with all edits made, and the brackets that close it. */
  render(closing: string): string {
    this.undo(this.good);
    this.replace(this.good.at, this.good.at, closing);
    return this.#settled + textOf(this.#recent, this.written);
  }

  /** Writes the text up to `end` as it stands, and makes room for as many signs more. */
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

  /** Makes room for as many signs; the first time for the whole rest of the text, and some more. */
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
