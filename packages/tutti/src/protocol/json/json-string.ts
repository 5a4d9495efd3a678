import { readDamagedString } from "./damaged-string.ts";
import { escapeLength } from "./json-escape.ts";
import { skipSpace } from "./json-gap.ts";
import type { TokenOutcome, RepairDraft } from "./repair-draft.ts";
import { isQuote, senseOfQuote, type StringRole } from "./string-end.ts";

export function readString(draft: RepairDraft, role: StringRole): TokenOutcome {
  return passSoundString(draft, role) ? "read" : readDamagedString(draft, role);
}

/** Moves the cursor past a string that is sound except for single quotes. Returns false for any other string. */
export function passSoundString(draft: RepairDraft, role: StringRole): boolean {
  const { text, pos } = draft;
  const quote = text.charCodeAt(pos);
  if (quote !== 34 && quote !== 39) return false;
  const end = quote === 34 ? soundEnd(draft, pos + 1) : plainEnd(draft, pos + 1);
  if (end === -1 || !isFollowedAsUsual(text, end, role)) return false;
  if (quote === 39) doubleQuotes(draft, pos, end);
  draft.pos = end;
  return true;
}

export function doubleQuotes(draft: RepairDraft, start: number, end: number): void {
  draft.note("single quotes");
  draft.makeQuote(start);
  draft.makeQuote(end - 1);
}

/** `plainEnd` is after the closing single quote; -1 if the string contains quotes, backslashes or controls. */
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

/** `soundEnd` is after the closing double quote; -1 if the string is not valid JSON. */
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

/** Whether the text after the string confirms that it has ended. `isFollowedAsUsual` checks the common cases first. */
function isFollowedAsUsual(text: string, end: number, role: StringRole): boolean {
  const next = skipSpace(text, end);
  const code = text.charCodeAt(next);
  if (role === "key") return code === 58;
  if (code === 125 || code === 93) return true;
  if (code === 44) {
    const after = text.charCodeAt(skipSpace(text, next + 1));
    if (after === 34 || after === 125 || after === 93) return true;
  }
  // `readDamagedString` handles triple quotes and joined strings.
  return code !== 43 && !isQuote(text, end) && senseOfQuote(text, end, role) !== "inside";
}
