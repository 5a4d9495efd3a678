// Reads a string that JSON would refuse, or that something unusual follows.
import { peekToken, skipSpace } from "./json-gap.ts";
import type { Reading, RepairDraft } from "./repair-draft.ts";
import { StringBody } from "./string-body.ts";
import { isQuote, looksLikeKey } from "./string-end.ts";
import type { Role } from "./string-end.ts";

export function readDamagedString(draft: RepairDraft, role: Role): Reading {
  const start = draft.pos;
  let written = "";
  let changed = false;
  let next = start;
  // Strings joined with a plus sign are one value.
  for (;;) {
    const body = new StringBody(draft, next);
    const reading = body.read(role);
    if (reading !== "read" && next === start && closeAtLineEnd(draft, role)) return "read";
    if (reading === "refused") return draft.refuse(body.reason);
    for (const repair of body.repairs) draft.note(repair);
    written += body.written;
    changed ||= body.repairs.length > 0;
    draft.pos = body.end;
    if (reading === "cut") {
      draft.openQuote = draft.text.charAt(next);
      draft.replace(start, draft.pos, `"${written}"`);
      return "cut";
    }
    next = joinedString(draft.text, body.end, role);
    if (next === -1) break;
    draft.note("joined strings");
    changed = true;
  }
  if (changed) draft.replace(start, draft.pos, `"${written}"`);
  return "read";
}

function joinedString(text: string, end: number, role: Role): number {
  const plus = skipSpace(text, end);
  const next = skipSpace(text, plus + 1);
  return role !== "key" && text.charAt(plus) === "+" && isQuote(text, next) ? next : -1;
}

/**
 * Ends a string whose closing quote is missing at the end of its first line, if that line has no further quote and the
 * next one begins as if the string had been closed.
 */
function closeAtLineEnd(draft: RepairDraft, role: Role): boolean {
  const { text, pos } = draft;
  if (role === "key" || text.charCodeAt(pos) !== 34) return false;
  let at = pos + 1;
  while (at < text.length && !isLineStop(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) !== 10) return false;
  const next = peekToken(text, at);
  const sign = text.charAt(next);
  const goesOn = role === "member" ? sign === "}" || looksLikeKey(text, next) : sign === "]" || sign === '"';
  if (!goesOn) return false;
  let end = text.charCodeAt(at - 1) === 13 ? at - 1 : at;
  while (end > pos + 1 && ",，;".includes(text.charAt(end - 1))) end--;
  // A space or a quote of another kind may belong to the text, or stand where the closing quote should.
  if (text.charCodeAt(end - 1) === 32 || isQuote(text, end - 1)) return false;
  draft.edit("missing quote", pos, end, JSON.stringify(text.slice(pos + 1, end)));
  draft.pos = end;
  return true;
}

/** Where the search for the end of the line stops: a line break, a quote or a backslash. */
function isLineStop(code: number): boolean {
  return code === 10 || code === 34 || code === 92;
}
