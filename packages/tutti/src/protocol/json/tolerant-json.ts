// Reads JSON that an agent wrote by hand. `readTolerantly` tries `JSON.parse` first. It repairs a rejected text and
// parses the repaired text with `JSON.parse` again, so every value it returns is JSON.
//
// 1. Time is linear in the length of the text, and nesting is limited to `MAX_DEPTH`.
// 2. `repairs` lists every repair. `guessed` is set if one of them could also have another meaning.
// 3. A repair never changes the content of a string.
// 4. `truncated` marks a text that breaks off. Callers may display its value but must not act on it.
// 5. A text with no object or list, or with several, is rejected.
import { blankStart, peekToken, skipSpace } from "./json-gap.ts";
import { MAX_DEPTH } from "./container-stack.ts";
import { JsonRepairer } from "./json-repairer.ts";
import { RepairDraft, type Repair } from "./repair-draft.ts";
import { isQuote, looksLikeKey } from "./string-end.ts";
import { isNestedDeeper, parseJson, withoutProto } from "./json-value.ts";
import { hasTrailingCommaNearEnd } from "./json-tail.ts";

/** `HIDES_KEYS` are repairs that can make a key look like an element of a list. */
const HIDES_KEYS: readonly Repair[] = ["missing comma", "missing colon", "missing quote", "unquoted value"];
const ESCAPED_SPACE = ["\\n", "\\r", "\\t"];

type TolerantReading =
  | {
      ok: true;
      value: object;
      /** The text that `JSON.parse` accepted: the input, or its repaired form. */
      text: string;
      repairs: string[];
      guessed: boolean;
      truncated: boolean;
      /** `openQuote` is that of the string in which the text breaks off; "" if it ends outside a string. */
      openQuote: string;
      /** The number of members read from the text. It exceeds the members of `value` if an object repeats a name. */
      keys: number;
    }
  | { ok: false; reason: string };

export function readTolerantly(text: string): TolerantReading {
  const strict = endsLikeJson(text) ? parseJson(text) : undefined;
  if (typeof strict === "string") return readInner(strict);
  if (strict !== undefined) return finished(strict, text, []);
  const quoted = withoutQuoteMarks(text);
  if (quoted === null) return readDamaged(text);
  const value = parseJson(quoted);
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
  const value = parseJson(repaired);
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

/** Finds repairs that are unambiguous alone but ambiguous together. */
function hasRivalReading(draft: RepairDraft): boolean {
  const { repairs, text } = draft;
  const has = (repair: Repair): boolean => repairs.includes(repair);
  // In an unclosed list, a damaged key looks like one more element.
  if (has("missing closing bracket") && HIDES_KEYS.some(has)) {
    draft.refuse("a list is not closed, and something else is missing");
    return true;
  }
  // A string that contains commas and lacks its opening quote looks like several unquoted strings.
  if (has("missing quote") && has("unquoted value")) {
    draft.refuse("quotes are missing in several ways");
    return true;
  }
  // Without double quotes, the backslashes inside strings may or may not have been escaped with the line breaks.
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

/**
 * Looks at the end of the text alone, which saves most failing `JSON.parse` calls. The text must end with a quote or
 * closing brackets, without a trailing comma before them or a little earlier.
 */
function endsLikeJson(text: string): boolean {
  const end = blankStart(text, text.length);
  const last = text.charCodeAt(end - 1);
  if (last === 34) return true;
  return (last === 125 || last === 93) && !hasTrailingCommaNearEnd(text, end);
}

/** `rootStart` is the first token, or the first `{` in the text that opens an object. */
function rootStart(text: string): number {
  const first = firstToken(text);
  if (text.charAt(first) === "{" || text.charAt(first) === "[") return first;
  for (let at = text.indexOf("{", first); at !== -1; at = text.indexOf("{", at + 1)) {
    if (opensObject(text, at) || isQuote(text, peekToken(text, at + 1))) return at;
  }
  return -1;
}

/** `firstToken` is after white space, comments and the opening line of a Markdown fence. */
function firstToken(text: string): number {
  const at = peekToken(text, skipSpace(text, 0));
  if (!text.startsWith("```", at)) return at;
  const line = text.indexOf("\n", at);
  return line === -1 ? at : skipSpace(text, line);
}

/** Distinguishes a brace that opens an object from one in a sentence. */
function opensObject(text: string, at: number): boolean {
  const next = peekToken(text, at + 1);
  return looksLikeKey(text, next, isQuote(text, next) ? ":：=" : ":：") || isEscaped(text, at);
}

/** Detects `{\"phase\": …`: an object with quotes that are escaped as if it were inside a string. */
function isEscaped(text: string, at: number): boolean {
  let next = skipSpace(text, at + 1);
  while (ESCAPED_SPACE.includes(text.slice(next, next + 2))) next = skipSpace(text, next + 2);
  return text.startsWith('\\"', next);
}

/** Detects an escaped object with a first key without quotes: every quote in it follows a backslash. */
function hasOnlyEscapedQuotes(text: string, start: number): boolean {
  if (text.charAt(skipSpace(text, start + 1)) !== "\\") return false;
  let quote = text.indexOf('"', start);
  const hasQuotes = quote !== -1;
  while (quote !== -1 && text.charAt(quote - 1) === "\\") quote = text.indexOf('"', quote + 1);
  return hasQuotes && quote === -1;
}

function readEscaped(text: string, start: number): TolerantReading {
  const end = text.lastIndexOf("}") + 1;
  const inner = parseJson(`"${text.slice(start, end).replaceAll("\r", "\\r").replaceAll("\n", "\\n")}"`);
  if (typeof inner !== "string") return { ok: false, reason: "An escaped object cannot be read" };
  return readInner(inner);
}

/** Undoes only one level of escaping. */
function readInner(text: string): TolerantReading {
  const value = parseJson(text);
  const start = rootStart(text);
  if (value === undefined && isEscaped(text, start)) return { ok: false, reason: "The object is escaped twice" };
  return noted("JSON inside a string", value === undefined ? readDamaged(text) : finished(value, text, []));
}

function noted(repair: Repair, reading: TolerantReading): TolerantReading {
  return reading.ok ? { ...reading, repairs: [repair, ...reading.repairs] } : reading;
}

/** Strips the Markdown quote mark `>` from every line. Returns null if a non-empty line has none. */
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

/** Allows only extra brackets and prose after the object. A second object would be a second answer. */
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
