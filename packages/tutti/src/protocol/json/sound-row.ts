// `SoundRow` is the fast path of `JsonRepairer`: it passes rows of easy entries and the brackets around them. Most of a
// damaged text is sound, or has the same simple fault everywhere: unquoted keys, single quotes, comments, or a comma
// too few or too many at the end of a line. `JsonRepairer` reads everything else.
//
// 1. An entry is passed only if `JsonRepairer` would read it in the same way and make the same edits.
// 2. A key or value is edited only once it is certain that it is passed.
// 3. The zero after the last code unit ends every search, so no search reads past the end.
import { MAX_DEPTH, type ContainerStack } from "./container-stack.ts";
import { readDamagedString } from "./damaged-string.ts";
import { skipOdd } from "./json-gap.ts";
import { doubleQuotes, plainEnd, soundEnd } from "./json-string.ts";
import type { Mark, RepairDraft } from "./repair-draft.ts";
import { isWordCode, looksLikeKey } from "./string-end.ts";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Well below the limit at which `looksLikeKey` stops. */
const LONGEST_EASY_KEY = 90;

/**
 * The continuation for `JsonRepairer` after the easy part. `entry`: read an entry. `gap`: skip a gap, then read an
 * entry. `value`: read the value of the key just read. `next`: read on after a value. The others end the reading.
 */
type Then = "entry" | "gap" | "value" | "next" | "complete" | "cut" | "refused";

export class SoundRow {
  readonly #draft: RepairDraft;
  readonly #open: ContainerStack;
  readonly #lastComma: Mark;

  /** Shares `open` and `lastComma` with `JsonRepairer` and updates both. */
  constructor(draft: RepairDraft, open: ContainerStack, lastComma: Mark) {
    this.#draft = draft;
    this.#open = open;
    this.#lastComma = lastComma;
  }

  pass(): Then {
    for (;;) {
      const then = this.#open.top === "{" ? this.#passMember() : this.#passElement();
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
    if (!isQuoted) draft.addQuotes("unquoted key", pos, end);
    else if (first === 39) doubleQuotes(draft, pos, end);
    draft.keys++;
    if (first === 95 || signs[pos + 1] === 95) draft.hasUnusualKeys = true;
    draft.pos = value;
    return code === 123 || code === 91 ? this.#enter(code) : this.#passScalar(code, true);
  }

  #passElement(): Then | null {
    const draft = this.#draft;
    const code = draft.signs[draft.pos]!;
    if (!isValueStart(code)) return "entry";
    return code === 123 || code === 91 ? this.#enter(code) : this.#passScalar(code, false);
  }

  #enter(bracket: number): Then | null {
    const draft = this.#draft;
    const { signs, pos } = draft;
    if (this.#open.depth >= MAX_DEPTH) return "value";
    this.#open.push(bracket === 123 ? "{" : "[", pos);
    this.#lastComma.at = -1;
    draft.pos = pos + 1;
    draft.settle(draft.pos);
    const next = skipBlank(signs, draft.pos);
    const code = signs[next]!;
    if (this.#open.isClosedBy(code)) return this.#close(next);
    if (!isEntryStart(code, bracket === 123)) return "gap";
    draft.pos = next;
    return null;
  }

  /** Passes the matching closing bracket at `at` and the comma or brackets after it. */
  #close(at: number): Then | null {
    const draft = this.#draft;
    this.#open.pop();
    draft.pos = at + 1;
    draft.settle(draft.pos);
    return this.#open.depth === 0 ? "complete" : this.#passBehindValue();
  }

  /** `#passBehindValue` expects a value that has certainly ended. Returns null if an entry follows. */
  #passBehindValue(): Then | null {
    const { signs, pos } = this.#draft;
    const { top } = this.#open;
    const next = skipBlank(signs, pos);
    const sign = signs[next]!;
    if (sign === 44 && top !== "call") return this.#passComma(next, skipBlank(signs, next + 1), top === "{");
    return isCloser(sign) && this.#open.isClosedBy(sign) ? this.#close(next) : "next";
  }

  /** Returns null if an entry follows. */
  #passScalar(code: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs, pos } = draft;
    const end = scalarEnd(draft, pos, code);
    if (end === -1) return isObject && (code === 34 || code === 39) ? this.#passDamaged() : "value";
    const comma = skipBlank(signs, end);
    if (signs[comma] !== 44) return this.#passLast(code, end, comma, isObject);
    const next = skipBlank(signs, comma + 1);
    if (isObject && !endsMember(draft, comma, next)) return "value";
    this.#finishScalar(code, end);
    return this.#passComma(comma, next, isObject);
  }

  /** A string in a list could also be a key, so `#passDamaged` leaves those to `JsonRepairer`. */
  #passDamaged(): Then | null {
    const draft = this.#draft;
    const reading = readDamagedString(draft, "member");
    if (reading === "refused") return "refused";
    draft.settle(draft.pos);
    return reading === "read" ? this.#passBehindValue() : "cut";
  }

  /** Passes a value without a comma after it: the last one, or one that lacks its comma at the end of a line. */
  #passLast(code: number, end: number, next: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs } = draft;
    const sign = signs[next]!;
    const isString = code === 34 || code === 39;
    if (isCloser(sign) || (isString && isComment(signs, next))) {
      this.#finishScalar(code, end);
      return isCloser(sign) && this.#open.isClosedBy(sign) ? this.#close(next) : "next";
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
    if (code === 39) doubleQuotes(draft, draft.pos, end);
    draft.pos = end;
    draft.settle(end);
  }

  /** Passes a comma and the comments after it if an entry follows. Otherwise `JsonRepairer` handles both. */
  #passComma(comma: number, next: number, isObject: boolean): Then | null {
    const draft = this.#draft;
    const { signs } = draft;
    const code = signs[next]!;
    const isOdd = code === 47 || code === 35;
    if (isCloser(code) && this.#open.isClosedBy(code)) {
      draft.edit("trailing comma", comma, comma + 1, "");
      return this.#close(next);
    }
    if (isOdd) next = oddEnd(draft, next);
    if (!isEntryStart(signs[next]!, isObject)) return "next";
    this.#lastComma.set(draft, comma);
    if (isOdd) draft.replace(comma + 1, next, " ");
    draft.pos = next;
    return null;
  }
}

/** Returns the end of the comments at `at`. `oddEnd` records their repairs but does not move the cursor. */
function oddEnd(draft: RepairDraft, at: number): number {
  const { pos } = draft;
  draft.pos = at;
  skipOdd(draft);
  const end = draft.pos;
  draft.pos = pos;
  return end;
}

/** `scalarEnd` is -1 if the value that starts with `code` has a fault other than single quotes. */
function scalarEnd(draft: RepairDraft, at: number, code: number): number {
  const { signs, text } = draft;
  if (code === 34) return soundEnd(draft, at + 1);
  if (code === 39) return plainEnd(draft, at + 1);
  if (code === 45 || (code >= 48 && code <= 57)) return numberEnd(signs, text, at);
  if (text.startsWith("true", at) || text.startsWith("null", at)) return at + 4;
  return text.startsWith("false", at) ? at + 5 : -1;
}

function numberEnd(signs: Uint16Array, text: string, at: number): number {
  let end = at;
  while (signs[end]! >= 48 && signs[end]! <= 57) end++;
  if (signs[at] !== 48 && end > at && !"eE.".includes(text.charAt(end))) return end;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : -1;
}

/** True if a line break, quote, bracket, comment or key follows the comma. */
function endsMember(draft: RepairDraft, comma: number, next: number): boolean {
  const code = draft.signs[next]!;
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

/** `quotedWordEnd` is -1 if the word cannot be a key. */
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

function isValueStart(code: number): boolean {
  return code === 34 || code === 39 || code === 123 || code === 91 || isWordCode(code);
}

function isEntryStart(code: number, isObject: boolean): boolean {
  return code === 34 || code === 39 || isWordCode(code) || (!isObject && (code === 123 || code === 91));
}

function isCloser(code: number): boolean {
  return code === 125 || code === 93;
}
