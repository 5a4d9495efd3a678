// Reads JSON that an agent wrote by hand. JSON.parse is asked first; what it refuses is repaired into JSON text and
// then read by JSON.parse again, so that nothing becomes a value that is not JSON.
//
// 1. The time is linear in the length of the text, and the depth is bounded.
// 2. Every repair is listed; a repair that could have another meaning marks the whole reading as guessed.
// 3. What stands inside a string is never changed.
// 4. A text that was cut is marked as truncated: it may be shown, but nobody may act on it.
// 5. A text without an object or a list, or with several, is refused.
import { blankStart, peekToken, skipSpace } from "./json-gap.ts";
import { MAX_DEPTH } from "./container-stack.ts";
import { JsonRepairer } from "./json-repairer.ts";
import { RepairDraft } from "./repair-draft.ts";
import type { Repair } from "./repair-draft.ts";
import { isQuote, looksLikeKey } from "./string-end.ts";
import { isNestedDeeper, withoutProto } from "./json-value.ts";

/** Damage that can make a key look like an element of a list. */
const HIDES_KEYS: readonly Repair[] = ["missing comma", "missing colon", "missing quote", "unquoted value"];
const ESCAPED_SPACE = ["\\n", "\\r", "\\t"];

export type TolerantReading =
  | {
      ok: true;
      value: object;
      /** The text that JSON.parse read in the end. */
      text: string;
      repairs: string[];
      guessed: boolean;
      truncated: boolean;
      /** The quote of the string inside which the text broke off; empty if it did not. */
      openQuote: string;
      /** Members met in the text; more than the value has if two of one object share a name. */
      keys: number;
    }
  | { ok: false; reason: string };

export function readTolerantly(text: string): TolerantReading {
  const strict = endsLikeJson(text) ? parse(text) : undefined;
  if (typeof strict === "string") return readInner(strict);
  if (strict !== undefined) return finished(strict, text, []);
  const quoted = withoutQuoteMarks(text);
  if (quoted === null) return readDamaged(text);
  const value = parse(quoted);
  return noted("quoted lines", value === undefined ? readDamaged(quoted) : finished(value, quoted, []));
}

function readDamaged(text: string): TolerantReading {
  const start = rootStart(text);
  if (start === -1) return { ok: false, reason: "There is no object" };
  if (isEscaped(text, start) || hasOnlyEscapedQuotes(text, start)) return readEscaped(text, start);
  const draft = new RepairDraft(text, start);
  const repairer = new JsonRepairer(draft);
  const ending = repairer.run();
  if (ending === "refused" || hasRivalReading(draft)) return { ok: false, reason: sentence(draft.refusal) };
  noteAround(draft, text.slice(0, start), "before");
  if (ending === "cut") draft.note("unfinished end");
  else if (!checkRest(draft)) return { ok: false, reason: sentence(draft.refusal) };
  const repaired = repairer.render();
  const value = parse(repaired);
  if (value === undefined) return { ok: false, reason: "The text is not JSON" };
  if (typeof value !== "object" || value === null) return { ok: false, reason: "There is no object" };
  const safe = draft.hasUnusualKeys ? withoutProto(value, repaired) : value;
  const reading = asReading(safe, repaired, [...draft.repairs]);
  reading.guessed = draft.guessed;
  reading.truncated = ending === "cut" || repairer.leftOut;
  reading.openQuote = ending === "cut" ? draft.openQuote : "";
  reading.keys = draft.keys;
  return reading;
}

/** Repairs that are clear by themselves but can together be read in another way. */
function hasRivalReading(draft: RepairDraft): boolean {
  const { repairs, text } = draft;
  const has = (repair: Repair): boolean => repairs.includes(repair);
  // In a list that was not closed, a key that is damaged too looks like one more element.
  if (has("missing closing bracket") && HIDES_KEYS.some(has)) {
    draft.refuse("a list is not closed, and something else is missing");
    return true;
  }
  // A text with commas whose opening quote is missing looks like several texts without quotes.
  if (has("missing quote") && has("unquoted value")) {
    draft.refuse("quotes are missing in several ways");
    return true;
  }
  // Without double quotes nobody can tell whether the backslashes of the strings were escaped with the line breaks.
  const isAllOnOneLine = has("escaped line break between values") && !text.trim().includes("\n");
  if (isAllOnOneLine && has("single quotes") && text.replaceAll(/\\[nrt]/g, "").includes("\\")) {
    draft.refuse("the backslashes can be read in several ways");
    return true;
  }
  return false;
}

function finished(value: unknown, text: string, repairs: string[]): TolerantReading {
  if (typeof value !== "object" || value === null) return { ok: false, reason: "There is no object" };
  if (isNestedDeeper(value, text, MAX_DEPTH)) return { ok: false, reason: "The object is nested too deeply" };
  return asReading(withoutProto(value, text), text, repairs);
}

function asReading(value: object, text: string, repairs: string[]): TolerantReading & { ok: true } {
  return { ok: true, value, text, repairs, guessed: false, truncated: false, openQuote: "", keys: 0 };
}

/** The value of a text; undefined if it is not JSON (JSON itself has no undefined). */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether the text can be JSON with an object, a list or a string in it, judged by its end alone: behind the last comma
 * stands more than closing brackets, and the last sign is one of the three. Only a text that can is worth parsing.
 */
function endsLikeJson(text: string): boolean {
  let at = blankStart(text, text.length);
  if (text.charCodeAt(at - 1) === 34) return true;
  let brackets = 0;
  for (; text.charCodeAt(at - 1) === 125 || text.charCodeAt(at - 1) === 93; at = blankStart(text, at - 1)) brackets++;
  return brackets > 0 && text.charCodeAt(at - 1) !== 44;
}

/** Where the object begins: at the start of the text, or at the first bracket in it that opens an object. */
function rootStart(text: string): number {
  const first = firstToken(text);
  if (text.charAt(first) === "{" || text.charAt(first) === "[") return first;
  for (let at = text.indexOf("{", first); at !== -1; at = text.indexOf("{", at + 1)) {
    if (opensObject(text, at) || isQuote(text, peekToken(text, at + 1))) return at;
  }
  return -1;
}

/** The first token behind white space, comments and the opening line of a fence. */
function firstToken(text: string): number {
  const at = peekToken(text, skipSpace(text, 0));
  if (!text.startsWith("```", at)) return at;
  const line = text.indexOf("\n", at);
  return line === -1 ? at : skipSpace(text, line);
}

/** Whether the bracket at `at` opens an object and is not just a sign in a sentence. */
function opensObject(text: string, at: number): boolean {
  const next = peekToken(text, at + 1);
  return looksLikeKey(text, next, isQuote(text, next) ? ":：=" : ":：") || isEscaped(text, at);
}

/** `{\"phase\": …`: the object begins as if it stood in a string. */
function isEscaped(text: string, at: number): boolean {
  let next = skipSpace(text, at + 1);
  while (ESCAPED_SPACE.includes(text.slice(next, next + 2))) next = skipSpace(text, next + 2);
  return text.startsWith('\\"', next);
}

/** Whether the object is escaped although its first key has no quotes: each of its quotes has a backslash. */
function hasOnlyEscapedQuotes(text: string, start: number): boolean {
  if (text.charAt(skipSpace(text, start + 1)) !== "\\") return false;
  let quote = text.indexOf('"', start);
  const hasQuotes = quote !== -1;
  while (quote !== -1 && text.charAt(quote - 1) === "\\") quote = text.indexOf('"', quote + 1);
  return hasQuotes && quote === -1;
}

function readEscaped(text: string, start: number): TolerantReading {
  const end = text.lastIndexOf("}") + 1;
  const inner = parse(`"${text.slice(start, end).replaceAll("\r", "\\r").replaceAll("\n", "\\n")}"`);
  if (typeof inner !== "string") return { ok: false, reason: "An escaped object cannot be read" };
  return readInner(inner);
}

/** JSON inside a string is read once more, but not deeper. */
function readInner(text: string): TolerantReading {
  const value = parse(text);
  const start = rootStart(text);
  if (value === undefined && isEscaped(text, start)) return { ok: false, reason: "The object is escaped twice" };
  return noted("JSON inside a string", value === undefined ? readDamaged(text) : finished(value, text, []));
}

function noted(repair: Repair, reading: TolerantReading): TolerantReading {
  return reading.ok ? { ...reading, repairs: [repair, ...reading.repairs] } : reading;
}

/** The text without the `>` that begins each of its lines; null if not every line has one. */
function withoutQuoteMarks(text: string): string | null {
  if (text.charAt(skipSpace(text, 0)) !== ">") return null;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const at = skipSpace(line, 0);
    if (at < line.length && line.charAt(at) !== ">") return null;
    lines.push(line.slice(line.charAt(at + 1) === " " ? at + 2 : at + 1));
  }
  return lines.join("\n");
}

/** What follows the object must be nothing, an extra bracket or plain talk; a second object would be a second answer. */
function checkRest(draft: RepairDraft): boolean {
  const { text } = draft;
  let at = skipSpace(text, draft.pos);
  while (text.charAt(at) === "}" || text.charAt(at) === "]") {
    draft.note("extra closing bracket");
    at = skipSpace(text, at + 1);
  }
  const rest = text.slice(at);
  if (rest.startsWith(",") || rest.startsWith(":")) {
    draft.refuse("the object goes on behind its end");
    return false;
  }
  for (let open = rest.indexOf("{"); open !== -1; open = rest.indexOf("{", open + 1)) {
    if (!opensObject(rest, open)) continue;
    draft.refuse("there is more than one object");
    return false;
  }
  noteAround(draft, rest, "after");
  return true;
}

function noteAround(draft: RepairDraft, around: string, side: "before" | "after"): void {
  const text = around.trim();
  if (around.includes("\ufeff")) draft.note("byte-order mark");
  if (text === "" || (side === "after" && text === ";")) return;
  const isFence = side === "before" ? /^`{3,}[A-Za-z0-9]*$/.test(text) : /^`{3,}$/.test(text);
  draft.note(isFence ? "markdown fence" : "text around the object");
}

function sentence(reason: string): string {
  return reason.charAt(0).toUpperCase() + reason.slice(1);
}
