import { peekToken, skipSpace } from "./json-gap.ts";
import { Mark, type TokenOutcome, type RepairDraft } from "./repair-draft.ts";
import { StringBody } from "./string-body.ts";
import { isQuote, looksLikeKey, type StringRole } from "./string-end.ts";

export function readDamagedString(draft: RepairDraft, role: StringRole): TokenOutcome {
  const beginning = new Mark();
  beginning.set(draft, draft.pos);
  const notes = draft.repairs.length;
  const body = new StringBody(draft, draft.pos);
  writeQuote(draft, body, draft.pos);
  const reading = body.read(role);
  const lineEnd = reading === "read" ? -1 : missingQuoteAt(draft, role);
  if (lineEnd === -1) return finish(draft, role, body, reading);
  draft.undo(beginning, notes);
  draft.edit("missing quote", beginning.at, lineEnd, JSON.stringify(draft.text.slice(beginning.at + 1, lineEnd)));
  draft.pos = lineEnd;
  return "read";
}

/** Ends the string, or continues with the `joined` one: strings joined by a plus sign are one value. */
function finish(draft: RepairDraft, role: StringRole, body: StringBody, reading: TokenOutcome): TokenOutcome {
  const { text } = draft;
  while (reading === "read") {
    draft.pos = body.end + body.quoteLength;
    const next = joinedString(text, draft.pos, role);
    if (next === -1) {
      writeQuote(draft, body, body.end);
      return "read";
    }
    draft.note("joined strings");
    const joined = new StringBody(draft, next);
    draft.replace(body.end, joined.start, "");
    body = joined;
    reading = body.read(role);
  }
  if (reading === "refused") return draft.refuse(body.reason);
  draft.openQuote = text.charAt(body.start - 1);
  draft.pos = body.end;
  draft.replace(draft.pos, draft.pos, '"');
  return "cut";
}

function writeQuote(draft: RepairDraft, body: StringBody, at: number): void {
  if (body.isUsual) return;
  if (body.quoteLength === 1) draft.makeQuote(at);
  else draft.replace(at, at + body.quoteLength, '"');
}

function joinedString(text: string, end: number, role: StringRole): number {
  const plus = skipSpace(text, end);
  const next = skipSpace(text, plus + 1);
  return role !== "key" && text.charAt(plus) === "+" && isQuote(text, next) ? next : -1;
}

/**
 * `missingQuoteAt` is the end of the first line, if that line has no further quote and the next line starts as if the
 * string were closed. Returns -1 otherwise.
 */
function missingQuoteAt(draft: RepairDraft, role: StringRole): number {
  const { text, pos } = draft;
  if (role === "key" || text.charCodeAt(pos) !== 34) return -1;
  let at = pos + 1;
  while (at < text.length && !isLineStop(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) !== 10) return -1;
  const next = peekToken(text, at);
  const sign = text.charAt(next);
  const goesOn = role === "member" ? sign === "}" || looksLikeKey(text, next) : sign === "]" || sign === '"';
  if (!goesOn) return -1;
  let end = text.charCodeAt(at - 1) === 13 ? at - 1 : at;
  while (end > pos + 1 && ",，;".includes(text.charAt(end - 1))) end--;
  // A trailing space or other quote may belong to the string or replace its closing quote.
  return text.charCodeAt(end - 1) === 32 || isQuote(text, end - 1) ? -1 : end;
}

function isLineStop(code: number): boolean {
  return code === 10 || code === 34 || code === 92;
}
