import { isSpace } from "./json-gap.ts";

/** `hasTrailingCommaNearEnd` reads a fraction of the text, which takes much less time than `JSON.parse` of a sound text. */
const FRACTION = 64;
/** The brackets at the very end are read in a short text, too. */
const LEAST = 16;

/**
 * Searches the tail of a text for a comma before a closing bracket. Strings are skipped from their end: outside a string,
 * each quote of a sound text ends one. So a trailing comma found in this way proves that the text is not JSON.
 */
export function hasTrailingCommaNearEnd(text: string, end: number): boolean {
  const from = Math.max(0, end - LEAST - Math.trunc(end / FRACTION));
  let isBeforeBracket = false;
  for (let at = end - 1; at >= from; at--) {
    const code = text.charCodeAt(at);
    if (code === 44 && isBeforeBracket) return true;
    if (code === 34) at = openingQuote(text, at);
    isBeforeBracket = code === 125 || code === 93 || (isBeforeBracket && isSpace(code));
  }
  return false;
}

/** The start of the string that ends with the quote at `end`, or -1. */
function openingQuote(text: string, end: number): number {
  let at = end;
  do at = at === 0 ? -1 : text.lastIndexOf('"', at - 1);
  while (at > 0 && isEscaped(text, at));
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === 92) start--;
  return (at - start) % 2 === 1;
}
