// The work sheet of one repair: the damaged text, a cursor, and the edits that turn it into JSON. Edits are made from
// left to right and never overlap, so writing the result is one pass, and what no edit touches is copied as it stands.

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

export class RepairDraft {
  readonly text: string;
  pos = 0;
  /** Why the text cannot be repaired; the first reason stays. */
  refusal = "";
  /** The quote of the string in which the text ended, if it did: what follows the text may belong to that string. */
  openQuote = "";
  guessed = false;
  readonly repairs = new Set<Repair>();
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #texts: string[] = [];

  constructor(text: string) {
    this.text = text;
  }

  get edits(): number {
    return this.#starts.length;
  }

  note(repair: Repair): void {
    if (this.repairs.has(repair)) return;
    this.repairs.add(repair);
    if (REPAIRS[repair].guess) this.guessed = true;
  }

  edit(repair: Repair, start: number, end: number, replacement: string): void {
    this.note(repair);
    this.replace(start, end, replacement);
  }

  /** An edit whose reasons have been noted already. */
  replace(start: number, end: number, replacement: string): void {
    this.#starts.push(start);
    this.#ends.push(end);
    this.#texts.push(replacement);
  }

  /** Takes back all edits but the first ones. */
  undo(edits: number): void {
    this.#starts.length = edits;
    this.#ends.length = edits;
    this.#texts.length = edits;
  }

  refuse(reason: string): "refused" {
    this.refusal ||= `${reason} at character ${this.pos + 1}`;
    return "refused";
  }

  /** The text from `from` to `to` with the first `edits` edits made. */
  render(from: number, to: number, edits: number): string {
    const pieces: string[] = [];
    let copied = from;
    for (let index = 0; index < edits; index++) {
      pieces.push(this.text.slice(copied, this.#starts[index]), this.#texts[index] ?? "");
      copied = this.#ends[index] ?? copied;
    }
    pieces.push(this.text.slice(copied, to));
    return pieces.join("");
  }
}
