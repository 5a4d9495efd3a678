// Where the pieces of a declaration end: types, expressions, type arguments, statements. All of it walks forward over
// tokens and jumps over brackets, so that no nesting, however deep, costs more than its length.
import type { Token, ScriptTokens } from "./javascript-tokens.ts";

const OPENERS = new Set(["(", "[", "{"]);
const CLOSERS = new Set([")", "]", "}"]);
/** Words that join what is before and after them. */
const JOINING = new Set(["in", "of", "instanceof", "as", "satisfies", "extends", "implements", "is", "else", "catch"]);
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

/** The index behind the bracket that closes the one at `index`. */
export function afterBrackets(tokens: ScriptTokens, index: number): number {
  return Math.min(tokens.partner[index]! + 1, tokens.list.length);
}

/** Whether a statement that needs no semicolon ends in front of this token. */
export function startsStatement(tokens: ScriptTokens, index: number): boolean {
  const token = tokens.list[index];
  const before = tokens.list[index - 1];
  if (!token || !before || before.text === ";") return true;
  if (!token.startsLine) return false;
  const beforeEnds =
    before.type === "punctuation"
      ? /^(?:\)|\]|\}|>|\+\+|--)$/.test(before.text)
      : !(before.type === "name" && (JOINING.has(before.text) || TYPE_PREFIX.has(before.text)));
  const canStart =
    token.type === "punctuation" ? token.text === "@" : !JOINING.has(token.text) && token.type !== "template";
  return beforeEnds && canStart;
}

/** The index behind a list of type parameters or arguments that opens at `index`, or null if it is a comparison. */
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

/** The index behind the type that begins at `index`. */
export function afterType(tokens: ScriptTokens, index: number, stopsAtArrow = false): number {
  let wantsOperand = true;
  let at = index;
  while (at < tokens.list.length) {
    const token = tokens.list[at]!;
    const text = token.text;
    if (token.type !== "punctuation") {
      const joins = text === "extends" || text === "is";
      if (!wantsOperand && !joins) return at;
      wantsOperand = token.type === "name" && TYPE_PREFIX.has(text) && !isLastOfType(tokens, at);
      at += 1;
    } else if (text === "<") {
      const end = afterAngles(tokens, at);
      if (end === null) return at;
      // Type parameters of a function type come before its operand, type arguments after it.
      at = end;
    } else if (text === "(" || text === "[") {
      if (!wantsOperand && token.startsLine) return at;
      at = afterBrackets(tokens, at);
      wantsOperand = false;
    } else if (text === "{") {
      if (!wantsOperand) return at;
      at = afterBrackets(tokens, at);
      wantsOperand = false;
    } else if (/^(?:\||&|=>|\?|:|\.|-|\?\.)$/.test(text)) {
      if (text === "=>" && stopsAtArrow) return at;
      if (!wantsOperand && (text === "?" || text === ":") && !isConditional(tokens, index, at)) return at;
      wantsOperand = true;
      at += 1;
    } else {
      return at;
    }
  }
  return at;
}

/** `asserts value`, `keyof T` need an operand; a type that is simply called `is` or `readonly` does not. */
function isLastOfType(tokens: ScriptTokens, at: number): boolean {
  return /^(?:[;,)\]}=>]|\||&|)$/.test(textAt(tokens, at + 1));
}

function isConditional(tokens: ScriptTokens, from: number, at: number): boolean {
  for (let index = at; index >= from; index -= 1) if (textAt(tokens, index) === "extends") return true;
  return false;
}

/** The index behind the expression that begins at `index`: at a comma, a semicolon, or where the next statement is. */
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
  const before = tokens.list[at - 1];
  const isFirst = at === expressionStart || before?.text === "async";
  if (!isFirst && !(isName(before) && before.end === tokens.list[at]!.start)) return false;
  const end = afterAngles(tokens, at);
  return end !== null && (!isFirst || textAt(tokens, end) === "(");
}

/** The parts of an arrow function or function expression: where its parameters and return type end. */
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

/** The index behind type parameters, parameters and return type, or null when there are no parameters here. */
export function afterParameters(tokens: ScriptTokens, index: number, isArrow = false): number | null {
  let at = index;
  if (textAt(tokens, at) === "<") at = afterAngles(tokens, at) ?? at;
  if (textAt(tokens, at) !== "(") return null;
  at = afterBrackets(tokens, at);
  if (textAt(tokens, at) !== ":") return at;
  return isArrow ? afterArrowReturnType(tokens, at + 1) : afterType(tokens, at + 1);
}

/** The return type of an arrow function ends at its arrow, but a function type has an arrow of its own. */
function afterArrowReturnType(tokens: ScriptTokens, index: number): number {
  const first = afterType(tokens, index, true);
  if (textAt(tokens, first) !== "=>" || !isParameterList(tokens, index)) return first;
  const second = afterType(tokens, first + 1, true);
  return textAt(tokens, second) === "=>" ? second : first;
}

/** Tells `(a: string) => void` from a type that is only put in brackets. */
function isParameterList(tokens: ScriptTokens, open: number): boolean {
  if (textAt(tokens, open) !== "(") return false;
  return /^(?:\)|\.{3}|\{|\[)$/.test(textAt(tokens, open + 1)) || /^[:?,]$/.test(textAt(tokens, open + 2));
}
