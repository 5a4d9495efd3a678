// `skipGap` skips everything between two tokens: white space of any kind, comments, terminal colours and escaped line
// breaks.
import type { RepairDraft } from "./repair-draft.ts";

type Peeked = Pick<RepairDraft, "text" | "pos" | "note">;
const LONGEST_PEEK = 300;

export const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

/** Unlike `skipGap`, stops at comments. */
export function skipSpace(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 10 || code === 13 || code === 9) at++;
    else if (code > 32 && code < 127) return at;
    else if (code === 27 && text.charCodeAt(at + 1) === 91) at = colourEnd(text, at + 2);
    else if (code === 0xfeff || isUnusualSpace(code)) at++;
    else return at;
  }
}

/** `blankStart` is the start of the JSON white space that ends before `at`. */
export function blankStart(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** `NEWLINE` and `ODD` describe a gap. `ODD` means that it holds something JSON does not allow there. */
const NEWLINE = 1;
export const ODD = 2;

/** Moves the cursor to the next token and replaces a gap that is `ODD`. Returns true if the gap has a line break. */
export function skipGap(draft: RepairDraft): boolean {
  const start = draft.pos;
  const held = skipOdd(draft);
  if (held & ODD) draft.replace(start, draft.pos, held & NEWLINE ? "\n" : " ");
  return (held & NEWLINE) !== 0;
}

/** Like `skipGap`, but leaves the replacement to the caller and returns the bits of the gap. */
export function skipOdd(draft: Peeked): number {
  const { text } = draft;
  let at = draft.pos;
  let held = 0;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 9 || code === 13) at++;
    else if (code === 10) {
      held |= NEWLINE;
      at++;
    } else if (code > 32 && code < 127 && code !== 47 && code !== 35 && code !== 92) break;
    else {
      const end = oddEnd(draft, at, code);
      if (end === at) break;
      // A line comment ends before its line break.
      const isLine = code === 35 || (code === 47 && text.charCodeAt(at + 1) === 47);
      held |= !isLine && text.slice(at, end).includes("\n") ? ODD | NEWLINE : ODD;
      at = end;
    }
  }
  draft.pos = at;
  return held;
}

/** Returns the start of the next token without recording repairs. Looks at most `LONGEST_PEEK` characters ahead. */
export function peekToken(text: string, at: number): number {
  const peeked: Peeked = { text: text.slice(at, at + LONGEST_PEEK), pos: 0, note: () => {} };
  skipOdd(peeked);
  return at + peeked.pos;
}

/** `oddEnd` is the end of the comment or other oddity at `at`; `at` itself if there is none. */
function oddEnd(draft: Peeked, at: number, code: number): number {
  const { text } = draft;
  const next = text.charCodeAt(at + 1);
  if (code === 35 || (code === 47 && next === 47)) {
    draft.note("comment");
    return endOf(text, "\n", at, 0);
  }
  if (code === 47 && next === 42) {
    draft.note("comment");
    return endOf(text, "*/", at + 2, 2);
  }
  if (code === 92) {
    if (next !== 110 && next !== 114 && next !== 116 && next !== 10 && next !== 13) return at;
    draft.note("escaped line break between values");
    return at + 2;
  }
  if (code === 27 && next === 91) {
    draft.note("terminal colours");
    return colourEnd(text, at + 2);
  }
  if (code === 0xfeff) {
    draft.note("byte-order mark");
    return at + 1;
  }
  if (!isUnusualSpace(code)) return at;
  draft.note("unusual white space");
  return at + 1;
}

function endOf(text: string, mark: string, from: number, length: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + length;
}

/** A control sequence ends with its first character from @ to ~. */
function colourEnd(text: string, at: number): number {
  while (at < text.length && (text.charCodeAt(at) < 64 || text.charCodeAt(at) > 126)) at++;
  return Math.min(at + 1, text.length);
}

function isUnusualSpace(code: number): boolean {
  return (
    code === 11 ||
    code === 12 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x2060 ||
    code === 0x3000
  );
}
