// Finds a use of a name in JavaScript or TypeScript, and returns the statement around it.
import type { DeclarationKind } from "../read/facts.ts";
import { afterAngles, isName, startsStatement, textAt } from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";
import { dedent } from "./quote.ts";

/** The search ends after this many uses and returns the shortest. */
const MAX_USES = 6;
const MAX_CHARACTERS = 900;

export function findInJavaScript(
  tokens: ScriptTokens,
  local: string,
  kind: DeclarationKind,
  maxLines: number,
): { line: number; code: string } | null {
  const [first, member] = local.split(".");
  let best: { line: number; code: string } | null = null;
  let count = 0;
  for (let at = 0; at < tokens.list.length && count < MAX_USES; at += 1) {
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
    count += 1;
    if (!best || lines < best.code.split("\n").length) best = { line: tokens.list[start]!.line, code };
  }
  return best;
}

function isUse(tokens: ScriptTokens, first: number, last: number, kind: DeclarationKind): boolean {
  const previous = textAt(tokens, first - 1);
  const next = textAt(tokens, last + 1);
  if (/^(?:function|class|const|let|var|import|as)$/.test(previous) || next === ":") return false;
  if (kind === "class") return previous === "new" || next === "." || previous === "<";
  if (kind !== "function") return next === "." || next === "[" || next === "(" || /^[(,=]$/.test(previous);
  const afterTypes = next === "<" ? afterAngles(tokens, last + 1) : last + 1;
  return previous === "<" || (afterTypes !== null && textAt(tokens, afterTypes) === "(");
}

/** Returns the first and the last token of the statement. */
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
    const previous = tokens.list[at - 1]!;
    if (previous.type === "punctuation" && /^[)\]}]$/.test(previous.text)) {
      const open = tokens.partner[at - 1]!;
      if (open >= at) return null;
      at = open;
    } else if (previous.type === "punctuation" && previous.text === "{" && opensBlock(tokens, at - 1)) {
      // The names in the braces of an import are not a statement.
      return textAt(tokens, tokens.partner[at - 1]! + 1) === "from" ? null : at;
    } else if (previous.text === ":" && tokens.list[at]!.startsLine && endsCase(tokens, at - 1)) {
      return at;
    } else {
      at -= 1;
    }
  }
  return at;
}

/** Whether a brace opens a block and not an object. */
function opensBlock(tokens: ScriptTokens, index: number): boolean {
  const previous = tokens.list[index - 1];
  if (!previous) return true;
  if (previous.type === "punctuation") return /^(?:\)|=>|\{|\}|;|>)$/.test(previous.text);
  return !/^(?:return|default|yield|await|typeof|in|of)$/.test(previous.text);
}

/** Whether a colon ends a label of a `switch`. */
function endsCase(tokens: ScriptTokens, colon: number): boolean {
  for (let at = colon - 1; at >= 0 && at > colon - 20; at -= 1) {
    if (/^(?:case|default)$/.test(textAt(tokens, at))) return true;
    if (tokens.list[at]!.startsLine) return false;
  }
  return false;
}
