import { readString } from "./json-string.ts";
import { peekToken, skipGap, skipSpace } from "./json-gap.ts";
import type { TokenOutcome, RepairDraft } from "./repair-draft.ts";
import { isQuote, isWordCode, looksLikeKey, wordEnd } from "./string-end.ts";

export function readKey(draft: RepairDraft): TokenOutcome {
  const { text, pos } = draft;
  if (text.charCodeAt(pos) === 34) {
    const end = wordEnd(text, pos + 1);
    // A comment may stand before the colon; `readColon` removes it.
    const next = text.charCodeAt(end) === 34 ? skipSpace(text, end + 1) : -1;
    const colon = text.startsWith("/*", next) ? peekToken(text, next) : next;
    if (text.charCodeAt(colon) === 58) {
      draft.pos = end + 1;
      return "read";
    }
  }
  if (!isQuote(text, pos)) return readBareKey(draft);
  return (looksLikeKey(text, pos) ? null : readBrokenKey(draft)) ?? readString(draft, "key");
}

function isColon(text: string, at: number): boolean {
  return at < text.length && ":：=".includes(text.charAt(at));
}

function readBareKey(draft: RepairDraft): TokenOutcome {
  const { text, pos } = draft;
  const end = wordEnd(text, pos);
  if (end === pos) return draft.refuse("a key is expected");
  if (end === text.length) return "cut";
  // A quote after the word means that only the opening quote is missing.
  const closed = isQuote(text, end);
  if (closed) draft.edit("missing quote", pos, end + 1, `"${text.slice(pos, end)}"`);
  else draft.addQuotes("unquoted key", pos, end);
  draft.pos = closed ? end + 1 : end;
  return "read";
}

/**
 * Reads a quoted word without a colon after it: either the colon is missing (`"status" "done"`) or the closing quote is
 * (`"status: "done"`). Returns null for anything else, which `readString` then reads.
 */
function readBrokenKey(draft: RepairDraft): TokenOutcome | null {
  const { text, pos } = draft;
  const end = wordEnd(text, pos + 1);
  if (end === pos + 1) return null;
  const word = `"${text.slice(pos + 1, end)}"`;
  if (isColon(text, skipSpace(text, end))) {
    draft.edit("missing quote", pos, end, word);
    draft.pos = end;
    return "read";
  }
  if (!isQuote(text, end)) return null;
  if (isQuote(text, end + 1)) {
    if (!isColon(text, skipSpace(text, end + 2))) return draft.refuse("a key has too many quotes");
    draft.edit("extra quote", pos, end + 2, word);
    draft.pos = end + 2;
    return "read";
  }
  const next = skipSpace(text, end + 1);
  if (!isQuote(text, next) && !"{[(".includes(text.charAt(next)) && !isWordCode(text.charCodeAt(next))) return null;
  if (text.charAt(pos) !== '"') draft.edit("single quotes", pos, end + 1, word);
  draft.pos = end + 1;
  return "read";
}

export function readColon(draft: RepairDraft, isQuoted: boolean): TokenOutcome {
  skipGap(draft);
  const { text, pos } = draft;
  const code = text.charCodeAt(pos);
  if (pos === text.length) return "cut";
  if (code === 58) skipColons(draft);
  else if (code === 0xff1a || code === 61) {
    const length = text.startsWith("=>", pos) ? 2 : 1;
    draft.edit("other sign for a colon", pos, pos + length, ":");
    draft.pos += length;
  } else if (isQuote(text, pos) || "{[(".includes(text.charAt(pos)) || (isQuoted && isWordCode(code))) {
    // An unquoted word can be the value only if `isQuoted`: then the end of the key is certain.
    draft.edit("missing colon", pos, pos, ":");
  } else return draft.refuse("a colon is expected");
  skipGap(draft);
  return draft.pos === text.length ? "cut" : "read";
}

function skipColons(draft: RepairDraft): void {
  const start = ++draft.pos;
  while (draft.text.charCodeAt(draft.pos) === 58) draft.pos++;
  if (draft.pos > start) draft.edit("other sign for a colon", start, draft.pos, "");
}
