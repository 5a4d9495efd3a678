// Finds the ends of types, expressions, type arguments and statements. Each function walks forward over the tokens and
// skips brackets by `partner`, so that deep nesting takes linear time.
import type { Token, ScriptTokens } from "./javascript-tokens.ts";

const OPENERS = new Set(["(", "[", "{"]);
const CLOSERS = new Set([")", "]", "}"]);
/** Words that need an operand on both sides. */
const INFIX_WORDS = new Set([
  "in",
  "of",
  "instanceof",
  "as",
  "satisfies",
  "extends",
  "implements",
  "is",
  "else",
  "catch",
]);
const TYPE_PREFIX = new Set([
  "keyof",
  "typeof",
  "infer",
  "readonly",
  "unique",
  "asserts",
  "new",
  "extends",
  "is",
  "abstract",
]);

export function textAt(tokens: ScriptTokens, index: number): string {
  return tokens.list[index]?.text ?? "";
}

export function isName(token: Token | undefined): token is Token {
  return token?.type === "name";
}

/** Returns the index after the bracket that closes the one at `index`. */
export function afterBrackets(tokens: ScriptTokens, index: number): number {
  return Math.min(tokens.partner[index]! + 1, tokens.list.length);
}

/** Whether the token starts a statement, also if the previous statement ends without a semicolon. */
export function startsStatement(tokens: ScriptTokens, index: number): boolean {
  const token = tokens.list[index];
  const previous = tokens.list[index - 1];
  if (!token || !previous || previous.text === ";") return true;
  if (!token.startsLine) return false;
  const canEnd =
    previous.type === "punctuation"
      ? /^(?:\)|\]|\}|>|\+\+|--)$/.test(previous.text)
      : !(previous.type === "name" && (INFIX_WORDS.has(previous.text) || TYPE_PREFIX.has(previous.text)));
  const canStart =
    token.type === "punctuation" ? token.text === "@" : !INFIX_WORDS.has(token.text) && token.type !== "template";
  return canEnd && canStart;
}

/** Returns the index after the type parameters or arguments that open at `index`, or null for a comparison. */
export function afterAngles(tokens: ScriptTokens, index: number): number | null {
  let depth = 0;
  for (let at = index; at < tokens.list.length && at < index + 400; at += 1) {
    const text = textAt(tokens, at);
    if (text === "<") depth += 1;
    else if (text === ">") depth -= 1;
    else if (OPENERS.has(text) && tokens.list[at]!.type === "punctuation") at = afterBrackets(tokens, at) - 1;
    else if (text === ";" || CLOSERS.has(text) || text === "&&" || text === "||") return null;
    if (depth === 0) return at + 1;
  }
  return null;
}

/** Returns the index after the type that starts at `index`. */
export function afterType(tokens: ScriptTokens, index: number, stopsAtArrow = false): number {
  let needsOperand = true;
  let at = index;
  while (at < tokens.list.length) {
    const token = tokens.list[at]!;
    const text = token.text;
    if (token.type !== "punctuation") {
      const joins = text === "extends" || text === "is";
      if (!needsOperand && !joins) return at;
      needsOperand = token.type === "name" && TYPE_PREFIX.has(text) && !isLastOfType(tokens, at);
      at += 1;
    } else if (text === "<") {
      const end = afterAngles(tokens, at);
      if (end === null) return at;
      // `needsOperand` stays: type parameters come before the operand, type arguments after it.
      at = end;
    } else if (text === "(" || text === "[") {
      if (!needsOperand && token.startsLine) return at;
      at = afterBrackets(tokens, at);
      needsOperand = false;
    } else if (text === "{") {
      if (!needsOperand) return at;
      at = afterBrackets(tokens, at);
      needsOperand = false;
    } else if (/^(?:\||&|=>|\?|:|\.|-|\?\.)$/.test(text)) {
      if (text === "=>" && stopsAtArrow) return at;
      if (!needsOperand && (text === "?" || text === ":") && !isConditional(tokens, index, at)) return at;
      needsOperand = true;
      at += 1;
    } else {
      return at;
    }
  }
  return at;
}

/** `asserts value` and `keyof T` need an operand; a type with the name `is` or `readonly` does not. */
function isLastOfType(tokens: ScriptTokens, at: number): boolean {
  return /^(?:[;,)\]}=>]|\||&|)$/.test(textAt(tokens, at + 1));
}

function isConditional(tokens: ScriptTokens, from: number, at: number): boolean {
  for (let index = at; index >= from; index -= 1) if (textAt(tokens, index) === "extends") return true;
  return false;
}

/** Returns the end of the expression at `index`: a comma, a semicolon, a closing bracket or the next statement. */
export function afterExpression(tokens: ScriptTokens, index: number): number {
  let at = index;
  while (at < tokens.list.length) {
    const token = tokens.list[at]!;
    if (token.type === "punctuation") {
      if (token.text === "," || token.text === ";" || CLOSERS.has(token.text)) return at;
      if (token.text === "<" && opensTypeArguments(tokens, at, index)) {
        at = afterAngles(tokens, at) ?? at + 1;
        continue;
      }
    }
    if (at > index && startsStatement(tokens, at)) return at;
    at = token.type === "punctuation" && OPENERS.has(token.text) ? afterBrackets(tokens, at) : at + 1;
  }
  return at;
}

function opensTypeArguments(tokens: ScriptTokens, at: number, expressionStart: number): boolean {
  const previous = tokens.list[at - 1];
  const isFirst = at === expressionStart || previous?.text === "async";
  if (!isFirst && !(isName(previous) && previous.end === tokens.list[at]!.start)) return false;
  const end = afterAngles(tokens, at);
  return end !== null && (!isFirst || textAt(tokens, end) === "(");
}

/** Returns the index after the parameters and return type of an arrow function or function expression. */
export function afterFunctionHead(tokens: ScriptTokens, index: number): number | null {
  let at = index;
  if (textAt(tokens, at) === "async" && !tokens.list[at + 1]?.startsLine) at += 1;
  if (textAt(tokens, at) === "function") {
    at += 1;
    if (textAt(tokens, at) === "*") at += 1;
    if (isName(tokens.list[at])) at += 1;
    return afterParameters(tokens, at);
  }
  if (isName(tokens.list[at]) && textAt(tokens, at + 1) === "=>") return at + 1;
  const end = afterParameters(tokens, at, true);
  return end !== null && textAt(tokens, end) === "=>" ? end : null;
}

/** Returns the index after type parameters, parameters and return type, or null if `index` has no parameters. */
export function afterParameters(tokens: ScriptTokens, index: number, isArrow = false): number | null {
  let at = index;
  if (textAt(tokens, at) === "<") at = afterAngles(tokens, at) ?? at;
  if (textAt(tokens, at) !== "(") return null;
  at = afterBrackets(tokens, at);
  if (textAt(tokens, at) !== ":") return at;
  return isArrow ? afterArrowReturnType(tokens, at + 1) : afterType(tokens, at + 1);
}

/** The return type of an arrow function ends at the arrow, but a function type contains another arrow. */
function afterArrowReturnType(tokens: ScriptTokens, index: number): number {
  const first = afterType(tokens, index, true);
  if (textAt(tokens, first) !== "=>" || !isParameterList(tokens, index)) return first;
  const second = afterType(tokens, first + 1, true);
  return textAt(tokens, second) === "=>" ? second : first;
}

/** Distinguishes `(a: string) => void` from a type in parentheses. */
function isParameterList(tokens: ScriptTokens, open: number): boolean {
  if (textAt(tokens, open) !== "(") return false;
  return /^(?:\)|\.{3}|\{|\[)$/.test(textAt(tokens, open + 1)) || /^[:?,]$/.test(textAt(tokens, open + 2));
}
