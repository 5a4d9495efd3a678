// Decides whether a quote ends a string or belongs to it. Agents forget to escape quotes, so `senseOfQuote` judges a
// quote by the text after it. Lookahead is bounded, so reading stays linear.
import { skipSpace } from "./json-gap.ts";

/** `StringRole` is the position of a string: a key, the value of a member, or an element of a list. */
export type StringRole = "key" | "member" | "element";

/**
 * `certain`: only the end of a string precedes this text. `likely`: an inner quote sometimes precedes it too. `inside`:
 * the end of a string never precedes it.
 */
type QuoteSense = "certain" | "likely" | "inside";

const LONGEST_KEY = 100;
const QUOTES = "“”‘’„«";

export function isQuote(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 34 || code === 39 || code === 96 || (code > 126 && QUOTES.includes(text.charAt(at)));
}

/** Classifies the quote before `at` by the text that follows it. */
export function senseOfQuote(text: string, at: number, role: StringRole): QuoteSense {
  const next = skipSpace(text, at);
  if (next >= text.length) return "certain";
  const sign = text.charAt(next);
  if (role === "key") return ":：=".includes(sign) ? "certain" : "inside";
  switch (sign) {
    case ",":
    case "，":
      return afterComma(text, next + 1, role);
    case "}":
    case "]":
      return (sign === "}") === (role === "member") ? afterBracket(text, next + 1) : "likely";
    case ")":
      return afterBracket(text, next + 1) === "inside" ? "inside" : "likely";
    case ";":
    case "#":
      return "likely";
    case "/":
      return text.charAt(next + 1) === "/" || text.charAt(next + 1) === "*" ? "likely" : "inside";
    case "+":
      return isQuote(text, skipSpace(text, next + 1)) ? "likely" : "inside";
    case "\\":
      return "nrt".includes(text.charAt(next + 1)) ? "likely" : "inside";
    case ".":
      return text.startsWith("...", next) ? "likely" : "inside";
    default:
      return withoutComma(text, next, role, hasLineBreak(text, at, next));
  }
}

function afterComma(text: string, comma: number, role: StringRole): QuoteSense {
  const at = skipSpace(text, comma);
  if (hasLineBreak(text, comma, at)) return "certain";
  if (at >= text.length || "}]),/#.\\".includes(text.charAt(at))) return "certain";
  // Within quoted words, as in `"a", "b" and c`, a comma may also follow an inner quote.
  if (role === "element") return isQuote(text, at) || isWordCode(text.charCodeAt(at)) ? "likely" : "certain";
  if (looksLikeKey(text, at)) return "certain";
  return isQuote(text, at) || text.charAt(at) === "{" ? "likely" : "inside";
}

function afterBracket(text: string, at: number): QuoteSense {
  const next = skipSpace(text, at);
  if (next >= text.length || ",}]);/#`，\\".includes(text.charAt(next)) || hasLineBreak(text, at, next))
    return "certain";
  return isQuote(text, next) || text.charAt(next) === "{" ? "likely" : "inside";
}

/** A comma may be missing, mostly at the end of a line, so `newLine` matters. */
function withoutComma(text: string, next: number, role: StringRole, newLine: boolean): QuoteSense {
  if (text.startsWith("```", next)) return "likely";
  if (role === "member") {
    if (looksLikeKey(text, next) && (newLine || isQuote(text, next))) return "certain";
    return newLine && isQuote(text, next) ? "likely" : "inside";
  }
  if (newLine) return "certain";
  return isQuote(text, next) || "{[".includes(text.charAt(next)) ? "likely" : "inside";
}

function hasLineBreak(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === 10) return true;
  return false;
}

/** Whether a key and its colon start here, quoted or not. For `looksLikeKey` the colon of `https://` does not count. */
export function looksLikeKey(text: string, at: number, colons = ":：="): boolean {
  const limit = Math.min(text.length, at + LONGEST_KEY);
  let end = at;
  if (isQuote(text, at)) {
    end++;
    while (end < limit && !isQuote(text, end) && text.charCodeAt(end) !== 10) end++;
    if (!isQuote(text, end)) return false;
    end++;
  } else {
    end = wordEnd(text, at, limit);
    if (end === at) return false;
    if (isQuote(text, end)) end++;
  }
  const colon = skipSpace(text, end);
  if (colon >= text.length || !colons.includes(text.charAt(colon))) return false;
  return text.charCodeAt(colon + 1) !== 61 && !text.startsWith("//", colon + 1);
}

/** `wordEnd` is after the run of letters, digits, `_`, `$` and `-` that starts at `at`. */
export function wordEnd(text: string, at: number, limit: number = text.length): number {
  while (at < limit && isWordCode(text.charCodeAt(at))) at++;
  return at;
}

export function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 36 ||
    code === 45
  );
}
