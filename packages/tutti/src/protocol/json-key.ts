// Reads the key of a member, quoted in some way or not at all.
import { readString } from "./json-string.ts";
import { skipSpace } from "./json-gap.ts";
import type { Reading, RepairDraft } from "./repair-draft.ts";
import { isQuote, isWordCode, looksLikeKey, wordEnd } from "./string-end.ts";

export function readKey(draft: RepairDraft): Reading {
  const { text, pos } = draft;
  if (text.charCodeAt(pos) === 34) {
    const end = wordEnd(text, pos + 1);
    if (text.charCodeAt(end) === 34 && text.charCodeAt(skipSpace(text, end + 1)) === 58) {
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

function readBareKey(draft: RepairDraft): Reading {
  const { text, pos } = draft;
  const end = wordEnd(text, pos);
  if (end === pos) return draft.refuse("a key is expected");
  if (end === text.length) return "cut";
  // A quote behind the word is all that is left of its quotes.
  const closed = isQuote(text, end);
  draft.edit(closed ? "missing quote" : "unquoted key", pos, closed ? end + 1 : end, `"${text.slice(pos, end)}"`);
  draft.pos = closed ? end + 1 : end;
  return "read";
}

/**
 * A simple quoted word that no colon follows: the colon is missing (`"status" "done"`), or the closing quote is
 * (`"status: "done"`). Anything else is left to the reader of strings.
 */
function readBrokenKey(draft: RepairDraft): Reading | null {
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
