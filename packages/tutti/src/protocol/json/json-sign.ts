import { isSpace } from "./json-gap.ts";
import { isQuote, looksLikeKey, wordEnd } from "./string-end.ts";

const LONGEST_NAME = 40;

export function isEllipsis(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x2026 || (code === 46 && text.startsWith("...", at));
}

/** True for `}`, `]` and `)`. */
export function isCloser(code: number): boolean {
  return code === 125 || code === 93 || code === 41;
}

/** `isKeyInList` is for a place where an element is expected. An unquoted key needs a space after its colon. */
export function isKeyInList(text: string, at: number): boolean {
  return looksLikeKey(text, at) && (isQuote(text, at) || isSpace(text.charCodeAt(text.indexOf(":", at) + 1)));
}

/** Counts the start of a type wrapper such as `NumberLong(` or `new Date(`; 0 if there is none. */
export function wrapperLength(text: string, at: number): number {
  let end = wordEnd(text, at, at + LONGEST_NAME);
  if (text.startsWith("new ", at)) end = wordEnd(text, at + 4, at + 4 + LONGEST_NAME);
  return end > at && text.charCodeAt(end) === 40 ? end + 1 - at : 0;
}

/** Detects the `u` or `b` prefix of a Python string. */
export function hasStringPrefix(text: string, at: number): boolean {
  const sign = text.charAt(at);
  const quote = text.charAt(at + 1);
  return (sign === "u" || sign === "b") && (quote === '"' || quote === "'");
}
