// `StringBody` rewrites the content of one damaged string as JSON. Only the notation changes, never the content.
//
// 1. Quotes inside the string must come in pairs: an opening quote precedes a word, a closing quote follows one. A
//    string that would end after an odd number of inner quotes is ambiguous and rejected. The inch mark of a number is
//    no quote.
// 2. A quoted word followed by a colon is a key that became part of the string because a quote is missing. Such a
//    string is rejected.
// 3. Backslashes of unknown escapes are kept literally, but only if the string has no known escapes other than `\"`
//    and `\/`.
import { escapedControl, escapeLength, isHex } from "./json-escape.ts";
import { skipSpace } from "./json-gap.ts";
import type { TokenOutcome, Repair, RepairDraft } from "./repair-draft.ts";
import { isQuote, senseOfQuote, type StringRole } from "./string-end.ts";

/**
 * In characters. `LONGEST_PHRASE` limits the quoted words at the beginning of a string, so that reading stays linear.
 */
const LONGEST_PHRASE = 200;

const CLOSING: Record<string, string> = { "“": "”", "„": "“", "‘": "’", "«": "»" };
const APOSTROPHES = "'‘";
const KINDS: Record<string, Repair> = {
  '"': "unescaped quotes in a string",
  "'": "single quotes",
  "`": "backtick quotes",
};

export class StringBody {
  reason = "a string can be read in several ways";
  /** `start` is the offset of the content. `end` is set by `read`. */
  readonly start: number;
  end = 0;
  readonly quoteLength: 1 | 3;
  readonly #draft: RepairDraft;
  readonly #text: string;
  readonly #quote: string;
  readonly #kind: Repair;
  #hasLineBreak = false;
  #innerQuotes = 0;
  #literalBackslashes = 0;
  #otherBackslashes = 0;

  constructor(draft: RepairDraft, start: number) {
    this.#draft = draft;
    this.#text = draft.text;
    this.#quote = draft.text.charAt(start);
    this.quoteLength = isTriple(draft.text, start) ? 3 : 1;
    this.#kind = this.quoteLength === 3 ? "triple quotes" : (KINDS[this.#quote] ?? "typographic quotes");
    this.start = start + this.quoteLength;
  }

  get isUsual(): boolean {
    return this.#kind === "unescaped quotes in a string";
  }

  /** Reads up to the closing quote and writes the content as JSON, without the quotes around it. */
  read(role: StringRole): TokenOutcome {
    const { signs } = this.#draft;
    const { length } = this.#text;
    const closing = (CLOSING[this.#quote] ?? this.#quote).charCodeAt(0);
    if (!this.isUsual) this.#draft.note(this.#kind);
    let at = this.start;
    while (at < length) {
      const code = signs[at]!;
      if (code === 92) {
        const length = this.#escape(at);
        if (length === 0) return "refused";
        at += length;
      } else if (code === closing) {
        const verdict = this.#quoteAt(at, role);
        if (verdict === "refused") return "refused";
        if (verdict === "end") return this.#finish(at);
        at++;
      } else {
        if (code === 34 || code < 32) {
          if (code === 34 && role === "key") return "refused";
          if (code === 34) this.#put(at, 1, '\\"', this.#kind);
          else this.#putControl(at, code);
        }
        at++;
      }
    }
    this.#draft.note("unfinished end");
    this.end = length;
    return "cut";
  }

  #finish(at: number): TokenOutcome {
    this.end = at;
    if (this.#literalBackslashes === 0 || this.#otherBackslashes === 0) return "read";
    this.reason = "the backslashes of a string can be read in several ways";
    return "refused";
  }

  #quoteAt(at: number, role: StringRole): "end" | "inside" | "refused" {
    const text = this.#text;
    if (this.quoteLength === 3) {
      if (text.startsWith('"""', at)) return "end";
      this.#put(at, 1, '\\"', this.#kind);
      return "inside";
    }
    const before = text.charCodeAt(at - 1);
    const after = text.charCodeAt(at + 1);
    const isApostrophe = APOSTROPHES.includes(this.#quote) && isLetter(before) && isLetter(after);
    if (isApostrophe) return "inside";

    const sense = senseOfQuote(text, at + 1, role);
    const paired = this.#innerQuotes % 2 === 0;
    if (sense === "certain" || (sense === "likely" && paired))
      return paired && !this.#opensNextLine(at) && !isEmptyPair(text, at, role) ? "end" : "refused";
    if (role === "key" || ":：".includes(text.charAt(skipSpace(text, at + 1)))) return "refused";
    const isInch = isDigit(before) && after === 32;
    // In a list, the open quote may also be the beginning of the next element.
    if (isInch && !paired && role === "element") return "refused";
    const fits = (isInch && paired) || (paired ? opensWord(before, after) : closesWord(before, after));
    // A quote right after the opening one may also be the opening quote written twice.
    if (!fits || this.#opensNextLine(at) || (at === this.start && !this.#closesInside(at, role))) return "refused";
    if (!isInch || !paired) this.#innerQuotes++;
    const written = this.#quote === '"' ? '\\"' : text.charAt(at);
    this.#put(at, 1, written, "unescaped quotes in a string");
    return "inside";
  }

  /** Whether the next quote closes a word and cannot be the end of the string. */
  #closesInside(at: number, role: StringRole): boolean {
    const text = this.#text;
    const phrase = text.slice(at + 1, at + LONGEST_PHRASE).split(this.#quote, 2);
    if (phrase.length < 2 || /[\n\\]/.test(phrase[0]!)) return false;
    const next = at + 1 + phrase[0]!.length;
    const after = text.charAt(next + 1);
    // `""word""` is also a string with quotes written twice.
    if (isQuote(text, next + 1) || ":：".includes(text.charAt(skipSpace(text, next + 1)))) return false;
    return (
      closesWord(text.charCodeAt(next - 1), after.charCodeAt(0)) && senseOfQuote(text, next + 1, role) === "inside"
    );
  }

  /** A quote at the beginning of a line more likely opens a string than closes the one from the line before. */
  #opensNextLine(at: number): boolean {
    if (!this.#hasLineBreak) return false;
    let before = at - 1;
    while (this.#text.charCodeAt(before) === 32 || this.#text.charCodeAt(before) === 9) before--;
    return this.#text.charCodeAt(before) === 10;
  }

  /** Handles the backslash at `at` and returns the number of characters consumed; `#escape` is 0 if it is ambiguous. */
  #escape(at: number): number {
    const text = this.#text;
    const next = text.charAt(at + 1);
    const known = escapeLength(text, at);
    if (known > 0) {
      if (next !== '"' && next !== "/") this.#otherBackslashes++;
      return known;
    }
    if (next === "" || (next === "u" && at + 6 > text.length && isHex(text, at + 2, text.length))) {
      this.#put(at, text.length - at, "", "unfinished end");
      return text.length - at;
    }
    if (next === "\n" || next === "\r") {
      const length = text.startsWith("\r\n", at + 1) ? 3 : 2;
      this.#put(at, length, "\\n", "escaped line break in a string");
      return length;
    }
    if (next === "'" || next === "`") {
      this.#put(at, 2, next, "unknown escape");
      return 2;
    }
    if (next === "x" && isHex(text, at + 2, at + 4)) {
      if (this.#quote !== "'") return 0;
      this.#put(at, 4, `\\u00${text.slice(at + 2, at + 4)}`, "unknown escape");
      return 4;
    }
    this.#literalBackslashes++;
    this.#put(at, 1, "\\\\", "unknown escape");
    return 1;
  }

  #putControl(at: number, code: number): void {
    const isLineBreak = code === 10 || code === 13;
    this.#hasLineBreak ||= isLineBreak;
    const written = code === 10 ? "\\n" : escapedControl(code);
    this.#put(at, 1, written, isLineBreak ? "line break in a string" : "control character in a string");
  }

  #put(at: number, length: number, written: string, repair: Repair): void {
    this.#draft.edit(repair, at, at + length, written);
  }
}

/** Three quotes open a multi-line string only if three quotes close it. */
function isTriple(text: string, at: number): boolean {
  return text.startsWith('"""', at) && text.includes('"""', at + 3);
}

/** `isEmptyPair`: two quotes between words may be an empty text, and not two elements without a comma. */
function isEmptyPair(text: string, at: number, role: StringRole): boolean {
  const [before, second, after] = [at - 1, at + 1, at + 2].map((place) => text.charAt(place));
  return role === "element" && second === '"' && (before === " " || after === " ");
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function opensWord(before: number, after: number): boolean {
  return !isLetter(before) && after > 32;
}

function closesWord(before: number, after: number): boolean {
  return before > 32 && !isLetter(after);
}

/** `isLetter` covers letters and digits of scripts that separate words by spaces. */
function isLetter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    (code >= 0xc0 && code <= 0x24f) ||
    (code >= 0x370 && code <= 0x52f)
  );
}
