// `readBareValue` reads a value without quotes: a number, a literal of JSON or of another language, or an unquoted
// string. An unquoted string ends only where no other reading makes sense. In a list it must not contain spaces,
// because its commas could not be distinguished from those between elements.
import { blankStart, isSpace, skipSpace } from "./json-gap.ts";
import type { TokenOutcome, Repair, RepairDraft } from "./repair-draft.ts";
import { isQuote, looksLikeKey, senseOfQuote, type StringRole } from "./string-end.ts";

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const LOOSE_NUMBER = /^[+-]?(?:[1-9][0-9]*\.?|0\.?|(?:0|[1-9][0-9]*)?\.[0-9]+)$/;
const LONGEST_LITERAL = 40;
const LITERALS: Record<string, string> = {
  True: "true",
  TRUE: "true",
  False: "false",
  FALSE: "false",
  None: "null",
  NULL: "null",
  Null: "null",
  nil: "null",
  undefined: "null",
  NaN: "null",
  Infinity: "null",
  "-Infinity": "null",
};

export function readBareValue(draft: RepairDraft, role: StringRole): TokenOutcome {
  const { text, pos } = draft;
  const end = bareEnd(text, pos, role);
  if (end === -1) return draft.refuse("text without quotes can be read in several ways");
  const word = text.slice(pos, end).trimEnd();
  const wordEnds = pos + word.length;
  if (word === "") return draft.refuse("a value is expected");
  if (isSound(word)) {
    // A number at the very end of `text` may be cut off.
    if (end === text.length && NUMBER.test(word)) return "cut";
    draft.pos = wordEnds;
    return "read";
  }
  if (end === text.length) return "cut";
  if (text.charAt(end) === '"') {
    const isUsual = role === "member" && gapBefore(text, pos) === gapAfterFirstKey(text);
    if (!isUsual) return draft.refuse("a quote is missing");
    return finish(draft, "missing quote", end + 1, JSON.stringify(text.slice(pos, end)));
  }
  const literal = Object.hasOwn(LITERALS, word) ? LITERALS[word] : undefined;
  if (literal !== undefined) return finish(draft, "literal of another language", wordEnds, literal);
  if (LOOSE_NUMBER.test(word)) return finish(draft, "number format", wordEnds, String(Number(word)));
  const spaced = /[\s,]/.test(word);
  if (spaced && role === "element") return draft.refuse("a list of texts without quotes can be read in several ways");
  return finish(draft, spaced ? "unquoted text with spaces" : "unquoted value", wordEnds, JSON.stringify(word));
}

/** Spaces before a string without an opening quote may belong to it, unless `gapAfterFirstKey` is the same. */
const gapBefore = (text: string, at: number): number => at - blankStart(text, at);

function gapAfterFirstKey(text: string): number {
  let colon = text.indexOf("{");
  while (colon < text.length && !":：=".includes(text.charAt(colon))) colon++;
  while (":：=>".includes(text.charAt(colon)) && colon < text.length) colon++;
  return skipSpace(text, colon) - colon;
}

function finish(draft: RepairDraft, repair: Repair, end: number, written: string): TokenOutcome {
  draft.edit(repair, draft.pos, end, written);
  draft.pos = end;
  return "read";
}

function isSound(word: string): boolean {
  return word === "true" || word === "false" || word === "null" || NUMBER.test(word);
}

/** Whether a number or a literal ends before the block comment at `at`, which no such word can contain. */
function endsLiteral(text: string, start: number, at: number): boolean {
  const word = text.slice(start, at).trimEnd();
  const isLiteral = isSound(word) || Object.hasOwn(LITERALS, word) || LOOSE_NUMBER.test(word);
  return isLiteral && text.includes("*/", at + 2);
}

/** `bareEnd` is -1 if the unquoted value at `start` is ambiguous. */
function bareEnd(text: string, start: number, role: StringRole): number {
  let isFirstComma = true;
  for (let at = start; at < text.length; at++) {
    switch (text.charAt(at)) {
      case "\n":
      case "\r":
      case "}":
      case "]":
      case ")":
      case ";":
        return at;
      case ",":
      case "，":
        if (role === "element" || endsMember(text, at)) return at;
        if (isFirstComma && NUMBER.test(text.slice(start, at))) return -1;
        isFirstComma = false;
        break;
      case "{":
      case "[":
      case "(":
        return -1;
      case "\\":
        return endsWithEscapedBreak(text, start, at) ? at : -1;
      case "\u001b":
        return at > start ? at : -1;
      case '"':
        if (looksLikeKey(text, at) && isSound(text.slice(start, at).trimEnd())) return at;
        return at > start && senseOfQuote(text, at + 1, role) !== "inside" ? at : -1;
      case ":":
        if (isSpace(text.charCodeAt(at + 1))) return -1;
        break;
      case "/":
      case "#":
        if (text.startsWith("/*", at) && at - start < LONGEST_LITERAL && endsLiteral(text, start, at)) return at;
        if (isSpace(text.charCodeAt(at - 1)) && isComment(text, at)) return hasOddQuotes(text, at) ? -1 : at;
        break;
      default:
    }
  }
  return text.length;
}

/** The comma at `at` ends a member if a key, or the end of the object or line, follows. */
function endsMember(text: string, at: number): boolean {
  const next = skipSpace(text, at + 1);
  if (next >= text.length || "}],/#\\\u001b".includes(text.charAt(next)) || looksLikeKey(text, next)) return true;
  if (isQuote(text, next) || text.startsWith("...", next) || text.startsWith("…", next)) return true;
  for (let index = at + 1; index < next; index++) if (text.charCodeAt(index) === 10) return true;
  return false;
}

/** Detects an escaped line break after a value, which is not the backslash of a path. */
function endsWithEscapedBreak(text: string, start: number, at: number): boolean {
  if (!"nrt".includes(text.charAt(at + 1))) return false;
  return isSound(text.slice(start, at).trimEnd()) || " ,]})\\".includes(text.charAt(at + 2));
}

/** With an odd number of quotes, the rest of the line may belong to a string without an opening quote. */
function hasOddQuotes(text: string, at: number): boolean {
  let quotes = 0;
  for (; at < text.length && text.charCodeAt(at) !== 10; at++) if (text.charCodeAt(at) === 34) quotes++;
  return quotes % 2 === 1;
}

function isComment(text: string, at: number): boolean {
  return text.charAt(at) === "#" || text.startsWith("//", at) || text.startsWith("/*", at);
}
