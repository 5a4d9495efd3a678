// Reads one declaration of JavaScript or TypeScript: its names, its signature without the body, and its end.
import type { DeclarationKind, ClassMember } from "../read/facts.ts";
import { readClassMembers } from "./javascript-classes.ts";
import {
  afterAngles,
  afterBrackets,
  afterExpression,
  afterFunctionHead,
  afterParameters,
  afterType,
  isName,
  startsStatement,
  textAt,
} from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";
import { excerpt, sliceCode } from "./quote.ts";

export interface Declaration {
  name: string;
  kind: DeclarationKind;
  line: number;
  signature: string;
  members: ClassMember[];
  /** Whether this is a declaration of a function without a body. */
  isOverload: boolean;
}

interface ParsedDeclaration {
  declarations: Declaration[];
  /** The index of the token after the declaration. */
  end: number;
}

const LONGEST_VALUE_LINES = 14;

/** Reads the declaration at `index`, which may start with modifiers. Its signature starts at `from`. */
export function readDeclaration(
  tokens: ScriptTokens,
  index: number,
  from: number,
  fallbackName: string,
): ParsedDeclaration | null {
  let at = index;
  while (/^(?:declare|abstract)$/.test(textAt(tokens, at)) && isName(tokens.list[at + 1])) at += 1;
  const word = textAt(tokens, at);
  if (word === "function" || (word === "async" && textAt(tokens, at + 1) === "function")) {
    return readFunction(tokens, at, from, fallbackName);
  }
  if (word === "class") return readClass(tokens, at, from, fallbackName);
  if (word === "enum" || (word === "const" && textAt(tokens, at + 1) === "enum"))
    return readBody(tokens, at, from, "enum");
  if (word === "const" || word === "let" || word === "var") return readVariables(tokens, at, from);
  if (!isName(tokens.list[at + 1]) && tokens.list[at + 1]?.type !== "string") return null;
  if (tokens.list[at + 1]?.startsLine) return null;
  if (word === "interface") return readBody(tokens, at, from, "interface");
  if (word === "namespace" || word === "module") return readBody(tokens, at, from, "namespace");
  if (word === "type") return readTypeAlias(tokens, at, from);
  return null;
}

function readFunction(
  tokens: ScriptTokens,
  index: number,
  from: number,
  fallbackName: string,
): ParsedDeclaration | null {
  let at = index + (textAt(tokens, index) === "async" ? 2 : 1);
  if (textAt(tokens, at) === "*") at += 1;
  const name = isName(tokens.list[at]) ? textAt(tokens, at) : fallbackName;
  if (isName(tokens.list[at])) at += 1;
  const head = afterParameters(tokens, at);
  if (head === null) return null;
  const hasBody = textAt(tokens, head) === "{";
  const declaration = declare(tokens, index, name, "function", sliceCode(tokens, from, head));
  declaration.isOverload = !hasBody;
  return { declarations: [declaration], end: hasBody ? afterBrackets(tokens, head) : head };
}

function readClass(tokens: ScriptTokens, index: number, from: number, fallbackName: string): ParsedDeclaration | null {
  const hasName = isName(tokens.list[index + 1]) && !/^(?:extends|implements)$/.test(textAt(tokens, index + 1));
  const name = hasName ? textAt(tokens, index + 1) : fallbackName;
  let at = index + 1;
  while (at < tokens.list.length && textAt(tokens, at) !== "{") {
    const text = textAt(tokens, at);
    if (text === "<") at = afterAngles(tokens, at) ?? at + 1;
    else if (text === "(" || text === "[") at = afterBrackets(tokens, at);
    else at += 1;
  }
  const declaration = declare(tokens, index, name, "class", sliceCode(tokens, from, at));
  declaration.members = readClassMembers(tokens, at);
  return { declarations: [declaration], end: afterBrackets(tokens, at) };
}

/** Reads a declaration whose body is part of its signature. A long body is shortened. */
function readBody(
  tokens: ScriptTokens,
  index: number,
  from: number,
  kind: "enum" | "interface" | "namespace",
): ParsedDeclaration | null {
  let at = index + 1;
  if (textAt(tokens, at) === "enum") at += 1;
  const name = textAt(tokens, at).replaceAll(/^["']|["']$/g, "");
  while (at < tokens.list.length && textAt(tokens, at) !== "{") {
    at = textAt(tokens, at) === "<" ? (afterAngles(tokens, at) ?? at + 1) : at + 1;
  }
  if (at >= tokens.list.length) return null;
  const end = afterBrackets(tokens, at);
  const signature = kind === "namespace" ? sliceCode(tokens, from, at) : excerpt(sliceCode(tokens, from, end), 30);
  return { declarations: [declare(tokens, index, name, kind, signature)], end };
}

function readTypeAlias(tokens: ScriptTokens, index: number, from: number): ParsedDeclaration | null {
  let at = index + 2;
  if (textAt(tokens, at) === "<") at = afterAngles(tokens, at) ?? at;
  if (textAt(tokens, at) !== "=") return null;
  const end = afterType(tokens, at + 1);
  const signature = excerpt(sliceCode(tokens, from, end), 30);
  return { declarations: [declare(tokens, index, textAt(tokens, index + 1), "type", signature)], end };
}

function readVariables(tokens: ScriptTokens, index: number, from: number): ParsedDeclaration {
  const declarations: Declaration[] = [];
  let at = index + 1;
  let start = from;
  while (at < tokens.list.length) {
    const nameIndex = at;
    const names = patternNames(tokens, at);
    at = isName(tokens.list[at]) ? at + 1 : afterBrackets(tokens, at);
    if (textAt(tokens, at) === "!") at += 1;
    const typeEnd = textAt(tokens, at) === ":" ? afterType(tokens, at + 1) : at;
    const hasValue = textAt(tokens, typeEnd) === "=";
    const end = hasValue ? afterExpression(tokens, typeEnd + 1) : typeEnd;
    const lead = start === from ? "" : `${textAt(tokens, index)} `;
    const value = hasValue ? valueSignature(tokens, start, typeEnd, end) : sliceCode(tokens, start, end);
    const isFunction = hasValue && afterFunctionHead(tokens, typeEnd + 1) !== null;
    for (const name of names) {
      declarations.push(declare(tokens, nameIndex, name, isFunction ? "function" : "constant", lead + value));
    }
    if (textAt(tokens, end) !== ",") return { declarations, end };
    at = end + 1;
    start = at;
  }
  return { declarations, end: at };
}

/** Returns only the head of a function, and any other value whole if it is short. */
export function valueSignature(tokens: ScriptTokens, from: number, equals: number, end: number): string {
  const head = afterFunctionHead(tokens, equals + 1);
  if (head !== null) {
    return textAt(tokens, head) === "=>"
      ? `${sliceCode(tokens, from, head + 1)} …`
      : `${sliceCode(tokens, from, head)} { … }`;
  }
  const whole = sliceCode(tokens, from, end);
  if (whole.split("\n").length <= LONGEST_VALUE_LINES && whole.length <= 900) return whole;
  // A type describes a long value better than the beginning of the value.
  const beforeValue = sliceCode(tokens, from, equals);
  return beforeValue.includes(":") ? `${beforeValue} = …` : excerpt(whole, LONGEST_VALUE_LINES);
}

/** Returns the name of a declarator, or all names of a destructuring pattern. */
function patternNames(tokens: ScriptTokens, index: number): string[] {
  if (isName(tokens.list[index])) return [textAt(tokens, index)];
  if (!/^[{[]$/.test(textAt(tokens, index))) return [];
  const names: string[] = [];
  const end = tokens.partner[index]!;
  for (let at = index + 1; at < end && at < tokens.list.length; at += 1) {
    const next = textAt(tokens, at + 1);
    if (textAt(tokens, at) === "=") at = afterExpression(tokens, at + 1) - 1;
    else if (isName(tokens.list[at]) && next !== ":") names.push(textAt(tokens, at));
  }
  return names;
}

function declare(
  tokens: ScriptTokens,
  index: number,
  name: string,
  kind: DeclarationKind,
  signature: string,
): Declaration {
  return { name, kind, line: tokens.list[index]?.line ?? 1, signature, members: [], isOverload: false };
}

/** Returns the index after a statement that is not a declaration. */
export function afterStatement(tokens: ScriptTokens, index: number): number {
  let at = index;
  do {
    at =
      /^[([{]$/.test(textAt(tokens, at)) && tokens.list[at]?.type === "punctuation"
        ? afterBrackets(tokens, at)
        : at + 1;
  } while (at < tokens.list.length && !startsStatement(tokens, at));
  return at;
}
