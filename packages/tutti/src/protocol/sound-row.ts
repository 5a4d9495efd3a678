// Passes over whole rows of sound entries at once. Damage is rare even in damaged texts, so most of a text is read here.
import { soundEnd } from "./json-string.ts";
import { wordEnd } from "./string-end.ts";

/** Where a row of sound entries ended. */
export interface SoundRow {
  at: number;
  /** What is expected there: another entry, the value of a key that has been read, or what follows a value. */
  then: "entry" | "value" | "next";
  keys: number;
  /** The end of the last value that was passed; -1 if there was none. */
  valueEnd: number;
  /** The last comma between entries; -1 if there was none. */
  comma: number;
}

/**
 * Entries of the form `"key": value,` (or `"text",` in a list) from `start` on, where every value is a sound string, a
 * whole number or a literal that is followed as JSON would have it. Anything else is left to the careful reader.
 */
export function passSoundRow(text: string, start: number, isObject: boolean): SoundRow {
  const row: SoundRow = { at: start, then: "entry", keys: 0, valueEnd: -1, comma: -1 };
  while (text.charCodeAt(row.at) === 34) {
    let at = row.at;
    if (isObject) {
      at = wordEnd(text, at + 1);
      if (text.charCodeAt(at) !== 34 || text.charCodeAt(at + 1) !== 58) return row;
      at = skipBlank(text, at + 2);
      if (!isValueStart(text.charCodeAt(at))) return row;
    }
    const end = text.charCodeAt(at) === 34 ? soundEnd(text, at + 1) : wordValueEnd(text, at);
    const comma = end === -1 ? -1 : skipBlank(text, end);
    const code = text.charCodeAt(comma);
    const next = code === 44 ? skipBlank(text, comma + 1) : comma;
    const isEnd = isCloser(text.charCodeAt(next));
    if (end === -1 || !(isEnd || (code === 44 && text.charCodeAt(next) === 34))) {
      if (!isObject) return row;
      row.keys++;
      row.at = at;
      row.then = "value";
      return row;
    }
    if (isObject) row.keys++;
    row.valueEnd = end;
    if (isEnd) {
      row.at = end;
      row.then = "next";
      return row;
    }
    row.at = next;
    row.comma = comma;
  }
  return row;
}

function skipBlank(text: string, at: number): number {
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  return at;
}

/** A value that the careful reader can begin to read here, without anything odd before it. */
function isValueStart(code: number): boolean {
  return code === 34 || code === 123 || code === 91 || (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function isCloser(code: number): boolean {
  return code === 125 || code === 93;
}

/** The end of a whole number or a literal; -1 if something else begins here. */
function wordValueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first < 49 || first > 57) {
    if (text.startsWith("true", at) || text.startsWith("null", at)) return at + 4;
    return text.startsWith("false", at) ? at + 5 : -1;
  }
  let end = at + 1;
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end++;
  return end;
}
