// Passes over whole rows of easy entries at once. Most of a damaged text is sound, or is damaged in the same simple way
// everywhere: keys without quotes, or single quotes. That is read here; anything else is left to the careful reader.
//
// 1. An entry is passed only if the careful reader would read it in the same way and make the same edits.
// 2. Nothing is edited before it is certain that the key, or the value, is passed.
// 3. The zero behind the last sign ends every search, so nothing is read behind it.
import { escapeLength } from "./json-escape.ts";
import { skipOdd } from "./json-gap.ts";
import type { Mark, RepairDraft } from "./repair-draft.ts";
import { isWordCode, looksLikeKey } from "./string-end.ts";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Far below the length at which a quoted word is no longer taken for a key. */
const LONGEST_EASY_KEY = 90;

/**
 * What is expected where a row ended: another entry, the value of a key that was read, a string as its value that has a
 * fault of its own, or what follows a value.
 */
type Then = "entry" | "value" | "damaged string" | "next";

export class SoundRow {
  readonly #draft: RepairDraft;
  readonly #lastComma: Mark;

  /** The mark is set at each comma that is passed. */
  constructor(draft: RepairDraft, lastComma: Mark) {
    this.#draft = draft;
    this.#lastComma = lastComma;
  }

  /** Moves the cursor over easy entries, as far as they go, and says what is expected behind them. */
  pass(isObject: boolean): Then {
    for (;;) {
      const then = isObject ? this.#passMember() : this.#passElement();
      if (then !== null) return then;
    }
  }

  #passMember(): Then | null {
    const draft = this.#draft;
    const { signs, pos } = draft;
    const first = signs[pos]!;
    const isQuoted = first === 34 || first === 39;
    const end = isQuoted ? quotedWordEnd(signs, pos, first) : wordEnd(signs, pos);
    if (end <= pos || signs[end] !== 58) return "entry";
    const value = skipBlank(signs, end + 1);
    const code = signs[value]!;
    if (!isValueStart(code)) return "entry";
    if (!isQuoted) draft.quote("unquoted key", pos, end, 0);
    else if (first === 39) draft.quote("single quotes", pos, end, 1);
    draft.keys++;
    draft.pos = value;
    if (code === 123 || code === 91) return "value";
    return this.#passScalar(code, true);
  }

  #passElement(): Then | null {
    const draft = this.#draft;
    const code = draft.signs[draft.pos]!;
    if (!isValueStart(code)) return "entry";
    if (code === 123 || code === 91) return "value";
    return this.#passScalar(code, false);
  }

  /** Passes a string, a number or a literal; null if the next entry begins behind it. */
  #passScalar(code: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs, pos } = draft;
    const end = scalarEnd(draft, pos, code);
    if (end === -1) return isObject && (code === 34 || code === 39) ? "damaged string" : "value";
    const comma = skipBlank(signs, end);
    const sign = signs[comma]!;
    if (sign !== 44) return this.#passLast(code, end, comma, isObject);
    const next = skipBlank(signs, comma + 1);
    const after = signs[next]!;
    if (isObject && !endsMember(draft, comma, next, after)) return "value";
    this.#finishScalar(code, end);
    return this.#passComma(comma, next, isObject);
  }

  /** A value that no comma follows: the last one, or one whose comma is missing at the end of the line. */
  #passLast(code: number, end: number, next: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs } = draft;
    const sign = signs[next]!;
    const isString = code === 34 || code === 39;
    if (isCloser(sign) || (isString && isComment(signs, next))) {
      this.#finishScalar(code, end);
      return "next";
    }
    if (!isObject || sign !== 34 || !hasLineBreak(signs, end, next)) return "value";
    this.#finishScalar(code, end);
    this.#lastComma.at = -1;
    draft.edit("missing comma", next, next, ",");
    draft.pos = next;
    return null;
  }

  #finishScalar(code: number, end: number): void {
    const draft = this.#draft;
    if (code === 39) draft.quote("single quotes", draft.pos, end, 1);
    draft.pos = end;
    draft.settle(end);
  }

  /** Passes the comma and the comments behind it if an entry follows; if not, the careful reader deals with both. */
  #passComma(comma: number, next: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs, pos } = draft;
    const code = signs[next]!;
    const isOdd = code === 47 || code === 35;
    if (isOdd) {
      draft.pos = next;
      skipOdd(draft);
      next = draft.pos;
      draft.pos = pos;
    }
    if (!isEntryStart(signs[next]!, isObject)) return "next";
    this.#lastComma.set(draft, comma);
    if (isOdd) draft.replace(comma + 1, next, " ");
    draft.pos = next;
    return null;
  }
}

/** The end of a value of the kind that begins with this sign, if it has no fault of its own but its quotes; else -1. */
function scalarEnd(draft: RepairDraft, at: number, code: number): number {
  const { signs, text } = draft;
  if (code === 34) return soundEnd(signs, text, at + 1);
  if (code === 39) return plainEnd(signs, at + 1);
  if (code === 45 || (code >= 48 && code <= 57)) return numberEnd(signs, text, at);
  if (text.startsWith("true", at) || text.startsWith("null", at)) return at + 4;
  return text.startsWith("false", at) ? at + 5 : -1;
}

function soundEnd(signs: Uint16Array, text: string, at: number): number {
  for (;;) {
    const code = signs[at]!;
    if (code > 92) at++;
    else if (code === 34) return at + 1;
    else if (code === 92) {
      const length = escapeLength(text, at);
      if (length === 0) return -1;
      at += length;
    } else if (code >= 32) at++;
    else return -1;
  }
}

function plainEnd(signs: Uint16Array, at: number): number {
  for (;;) {
    const code = signs[at]!;
    if (code > 92) at++;
    else if (code === 39) return at + 1;
    else if (code === 92 || code === 34 || code < 32) return -1;
    else at++;
  }
}

function numberEnd(signs: Uint16Array, text: string, at: number): number {
  let end = at;
  while (signs[end]! >= 48 && signs[end]! <= 57) end++;
  if (signs[at] !== 48 && end > at && !"eE.".includes(text.charAt(end))) return end;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : -1;
}

/** Whether the comma ends a member whatever its value is: a line break, a quote, a bracket or a key follows. */
function endsMember(draft: RepairDraft, comma: number, next: number, code: number): boolean {
  if (code === 34 || isCloser(code) || code === 47 || code === 35) return true;
  return hasLineBreak(draft.signs, comma + 1, next) || looksLikeKey(draft.text, next);
}

function hasLineBreak(signs: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (signs[at] === 10) return true;
  return false;
}

function isComment(signs: Uint16Array, at: number): boolean {
  const code = signs[at];
  return code === 35 || (code === 47 && (signs[at + 1] === 47 || signs[at + 1] === 42));
}

/** The position behind a quoted word that can be a key; -1 if there is none. */
function quotedWordEnd(signs: Uint16Array, at: number, quote: number): number {
  const end = wordEnd(signs, at + 1);
  return signs[end] === quote && end - at < LONGEST_EASY_KEY ? end + 1 : -1;
}

function wordEnd(signs: Uint16Array, at: number): number {
  while (isWordCode(signs[at]!)) at++;
  return at;
}

function skipBlank(signs: Uint16Array, at: number): number {
  let code = signs[at]!;
  while (code === 32 || code === 10 || code === 13 || code === 9) code = signs[++at]!;
  return at;
}

/** A value that the careful reader can begin to read here, without anything odd before it. */
function isValueStart(code: number): boolean {
  return code === 34 || code === 39 || code === 123 || code === 91 || isWordCode(code);
}

/** An entry that begins right behind the white space after a comma. */
function isEntryStart(code: number, isObject: boolean): boolean {
  return code === 34 || code === 39 || isWordCode(code) || (!isObject && (code === 123 || code === 91));
}

function isCloser(code: number): boolean {
  return code === 125 || code === 93;
}
