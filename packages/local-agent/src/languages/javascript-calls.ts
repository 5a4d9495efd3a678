// Uses of a name in JavaScript or TypeScript, each widened to the statement it stands in.
import type { Kind } from "../read/facts.ts";
import { afterAngles, isName, startsStatement, textAt } from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";
import { dedent } from "./quote.ts";

/** How many uses are compared before the shortest is taken. */
const ENOUGH = 6;
const MAX_CHARACTERS = 900;

export function findInJavaScript(
  tokens: ScriptTokens,
  local: string,
  kind: Kind,
  maxLines: number,
): { line: number; code: string } | null {
  const [first, member] = local.split(".");
  let best: { line: number; code: string } | null = null;
  let seen = 0;
  for (let at = 0; at < tokens.list.length && seen < ENOUGH; at += 1) {
    if (textAt(tokens, at) !== first || !isName(tokens.list[at]) || /^(?:\.|\?\.)$/.test(textAt(tokens, at - 1)))
      continue;
    if (member !== undefined && (textAt(tokens, at + 1) !== "." || textAt(tokens, at + 2) !== member)) continue;
    if (!isUse(tokens, at, member === undefined ? at : at + 2, kind)) continue;
    const statement = statementAround(tokens, at);
    if (!statement || /^(?:import|export|interface|type)$/.test(textAt(tokens, statement.start))) continue;
    const { start, end } = statement;
    const code = dedent(tokens.text, tokens.list[start]!.start, tokens.list[end]!.end);
    const lines = code.split("\n").length;
    if (lines > maxLines || code.length > MAX_CHARACTERS || /\brequire\(/.test(code)) continue;
    seen += 1;
    if (!best || lines < best.code.split("\n").length) best = { line: tokens.list[start]!.line, code };
  }
  return best;
}

function isUse(tokens: ScriptTokens, first: number, last: number, kind: Kind): boolean {
  const before = textAt(tokens, first - 1);
  const next = textAt(tokens, last + 1);
  if (/^(?:function|class|const|let|var|import|as)$/.test(before) || next === ":") return false;
  if (kind === "class") return before === "new" || next === "." || before === "<";
  if (kind !== "function") return next === "." || next === "[" || next === "(" || /^[(,=]$/.test(before);
  const afterTypes = next === "<" ? afterAngles(tokens, last + 1) : last + 1;
  return before === "<" || (afterTypes !== null && textAt(tokens, afterTypes) === "(");
}

/** The first and last token of the statement around a token. */
function statementAround(tokens: ScriptTokens, index: number): { start: number; end: number } | null {
  const start = startOfStatement(tokens, index);
  if (start === null) return null;
  let at = start;
  while (at < tokens.list.length) {
    const text = textAt(tokens, at);
    const isPunctuation = tokens.list[at]!.type === "punctuation";
    if (isPunctuation && text === ";") return { start, end: at };
    if (isPunctuation && /^[)\]}]$/.test(text)) return { start, end: at - 1 };
    if (at > start && startsStatement(tokens, at)) return { start, end: at - 1 };
    at = isPunctuation && /^[([{]$/.test(text) ? tokens.partner[at]! + 1 : at + 1;
  }
  return { start, end: tokens.list.length - 1 };
}

function startOfStatement(tokens: ScriptTokens, index: number): number | null {
  let at = index;
  while (at > 0 && !startsStatement(tokens, at)) {
    const before = tokens.list[at - 1]!;
    if (before.type === "punctuation" && /^[)\]}]$/.test(before.text)) {
      const open = tokens.partner[at - 1]!;
      if (open >= at) return null;
      at = open;
    } else if (before.type === "punctuation" && before.text === "{" && opensBlock(tokens, at - 1)) {
      // The names in the braces of an import are no statement.
      return textAt(tokens, tokens.partner[at - 1]! + 1) === "from" ? null : at;
    } else if (before.text === ":" && tokens.list[at]!.startsLine && endsCase(tokens, at - 1)) {
      return at;
    } else {
      at -= 1;
    }
  }
  return at;
}

/** Tells the brace of a body from that of an object. */
function opensBlock(tokens: ScriptTokens, index: number): boolean {
  const before = tokens.list[index - 1];
  if (!before) return true;
  if (before.type === "punctuation") return /^(?:\)|=>|\{|\}|;|>)$/.test(before.text);
  return !/^(?:return|default|yield|await|typeof|in|of)$/.test(before.text);
}

/** Whether a colon ends the label of a switch. */
function endsCase(tokens: ScriptTokens, colon: number): boolean {
  for (let at = colon - 1; at >= 0 && at > colon - 20; at -= 1) {
    if (/^(?:case|default)$/.test(textAt(tokens, at))) return true;
    if (tokens.list[at]!.startsLine) return false;
  }
  return false;
}
