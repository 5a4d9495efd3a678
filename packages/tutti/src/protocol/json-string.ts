// Reads one string. A sound one is passed over untouched; anything else is handed to the reader of damaged strings.
import { readDamagedString } from "./damaged-string.ts";
import { escapeLength } from "./json-escape.ts";
import { skipSpace } from "./json-gap.ts";
import type { Reading, RepairDraft } from "./repair-draft.ts";
import { isQuote, senseOfQuote } from "./string-end.ts";
import type { Role } from "./string-end.ts";

export function readString(draft: RepairDraft, role: Role): Reading {
  return passSoundString(draft, role) ? "read" : readDamagedString(draft, role);
}

/** Moves the cursor behind a string that has no fault but, perhaps, the kind of its quotes. */
export function passSoundString(draft: RepairDraft, role: Role): boolean {
  const { text, pos } = draft;
  const quote = text.charCodeAt(pos);
  if (quote !== 34 && quote !== 39) return false;
  const end = quote === 34 ? soundEnd(draft, pos + 1) : plainEnd(draft, pos + 1);
  if (end === -1 || !isFollowedAsUsual(text, end, role)) return false;
  if (quote === 39) doubleQuotes(draft, pos, end);
  draft.pos = end;
  return true;
}

/** Makes the single quotes around a string double ones. */
export function doubleQuotes(draft: RepairDraft, start: number, end: number): void {
  draft.note("single quotes");
  draft.makeQuote(start);
  draft.makeQuote(end - 1);
}

/** The position behind the closing single quote of a string without anything special in it; -1 if it has. */
export function plainEnd(draft: RepairDraft, at: number): number {
  const { signs } = draft;
  for (;;) {
    const code = signs[at]!;
    if (code > 92) at++;
    else if (code === 39) return at + 1;
    else if (code === 92 || code === 34 || code < 32) return -1;
    else at++;
  }
}

/** The position behind the closing quote of a string without any fault of its own; -1 if it has one. */
export function soundEnd(draft: RepairDraft, at: number): number {
  const { signs, text } = draft;
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

/** Whether the string has ended here: the common cases first, then with a closer look. */
function isFollowedAsUsual(text: string, end: number, role: Role): boolean {
  const next = skipSpace(text, end);
  const code = text.charCodeAt(next);
  if (role === "key") return code === 58;
  if (code === 125 || code === 93) return true;
  if (code === 44) {
    const after = text.charCodeAt(skipSpace(text, next + 1));
    if (after === 34 || after === 125 || after === 93) return true;
  }
  // Three quotes in a row and joined strings are left to the reader of damaged strings.
  return code !== 43 && !isQuote(text, end) && senseOfQuote(text, end, role) !== "inside";
}
