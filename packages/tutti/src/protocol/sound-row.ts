// Passes over whole rows of sound entries at once. Damage is rare even in damaged texts, so most of a text is read here.
import { soundEnd } from "./json-string.ts";
import { wordEnd } from "./string-end.ts";

/** Where a row of sound entries ended. */
export interface SoundRow {
  /** The beginning of the next entry; the same as the start if there was no sound one. */
  next: number;
  /** The end of the last value that was passed. */
  valueEnd: number;
  entries: number;
}

/**
 * Entries of the form `"key": value,` (or `"text",` in a list) from `start` on, where every value is a sound string, a
 * whole number or a literal and a further entry begins with a quote. Anything else is left to the careful reader.
 */
export function passSoundRow(text: string, start: number, isObject: boolean): SoundRow {
  const row = { next: start, valueEnd: start, entries: 0 };
  for (;;) {
    let at = row.next;
    if (text.charCodeAt(at) !== 34) return row;
    if (isObject) {
      at = wordEnd(text, at + 1);
      if (text.charCodeAt(at) !== 34 || text.charCodeAt(at + 1) !== 58) return row;
      at = skipBlank(text, at + 2);
    }
    const end = text.charCodeAt(at) === 34 ? soundEnd(text, at + 1) : wholeNumberEnd(text, at);
    if (end === -1) return row;
    const comma = skipBlank(text, end);
    if (text.charCodeAt(comma) !== 44) return row;
    const next = skipBlank(text, comma + 1);
    if (text.charCodeAt(next) !== 34) return row;
    row.next = next;
    row.valueEnd = end;
    row.entries++;
  }
}

function skipBlank(text: string, at: number): number {
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  return at;
}

/** The end of a whole number or a literal; -1 if something else begins here. */
function wholeNumberEnd(text: string, at: number): number {
  if (text.startsWith("true", at) || text.startsWith("null", at)) return at + 4;
  if (text.startsWith("false", at)) return at + 5;
  const first = text.charCodeAt(at);
  if (first < 49 || first > 57) return -1;
  let end = at + 1;
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end++;
  return end;
}
