// Reads the public members of a class: constructor, methods, accessors and fields.
import { commentBefore } from "./comments.ts";
import type { ClassMember } from "../read/facts.ts";
import {
  afterBrackets,
  afterExpression,
  afterFunctionHead,
  afterParameters,
  afterType,
  textAt,
} from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";
import { sliceCode } from "./quote.ts";

const MODIFIERS = new Set([
  "public",
  "private",
  "protected",
  "static",
  "abstract",
  "override",
  "readonly",
  "declare",
  "async",
  "accessor",
  "get",
  "set",
]);
const MAX_MEMBERS = 200;

export function readClassMembers(tokens: ScriptTokens, open: number): ClassMember[] {
  const close = Math.min(tokens.partner[open] ?? 0, tokens.list.length);
  const members: ClassMember[] = [];
  let at = open + 1;
  while (at < close && members.length < MAX_MEMBERS) {
    if (textAt(tokens, at) === ";") at += 1;
    else at = readMember(tokens, at, close, members);
  }
  return members;
}

/** Adds the member at `index` if it is public, and returns the index after it. */
function readMember(tokens: ScriptTokens, index: number, close: number, members: ClassMember[]): number {
  let at = afterDecorators(tokens, index);
  const start = at;
  let isPublic = true;
  while (MODIFIERS.has(textAt(tokens, at)) && !/^[(=:;?!<]$/.test(textAt(tokens, at + 1))) {
    if (/^(?:private|protected)$/.test(textAt(tokens, at))) isPublic = false;
    if (textAt(tokens, at) === "static" && textAt(tokens, at + 1) === "{") return afterBrackets(tokens, at + 1);
    at += 1;
  }
  if (textAt(tokens, at) === "*") at += 1;
  const nameToken = tokens.list[at];
  if (!nameToken || at >= close) return at + 1;
  const name = nameToken.text;
  if (nameToken.type === "private" || name.startsWith("_")) isPublic = false;
  at = name === "[" ? afterBrackets(tokens, at) : at + 1;
  if (/^[?!]$/.test(textAt(tokens, at))) at += 1;

  const head = afterParameters(tokens, at);
  const isField = head === null;
  const signatureEnd = isField ? afterFieldHead(tokens, at) : head;
  const end = isField ? afterField(tokens, signatureEnd) : afterMethod(tokens, signatureEnd);
  const isOverloaded = !isField && textAt(tokens, head) === "{" && members.at(-1)?.name === name;
  if (isPublic && nameToken.type === "name" && !isOverloaded) {
    members.push({
      name,
      signature: isField ? fieldSignature(tokens, start, signatureEnd, end) : sliceCode(tokens, start, signatureEnd),
      doc: commentBefore(tokens, tokens.list[index]!.start)?.words ?? "",
      line: nameToken.line,
    });
  }
  return Math.max(end, index + 1);
}

function afterDecorators(tokens: ScriptTokens, index: number): number {
  let at = index;
  while (textAt(tokens, at) === "@") {
    at += 2;
    while (textAt(tokens, at) === ".") at += 2;
    if (textAt(tokens, at) === "(") at = afterBrackets(tokens, at);
  }
  return at;
}

function afterFieldHead(tokens: ScriptTokens, index: number): number {
  return textAt(tokens, index) === ":" ? afterType(tokens, index + 1) : index;
}

function afterField(tokens: ScriptTokens, index: number): number {
  return textAt(tokens, index) === "=" ? afterExpression(tokens, index + 1) : index;
}

function afterMethod(tokens: ScriptTokens, index: number): number {
  return textAt(tokens, index) === "{" ? afterBrackets(tokens, index) : index;
}

function fieldSignature(tokens: ScriptTokens, start: number, headEnd: number, end: number): string {
  const head = sliceCode(tokens, start, headEnd);
  if (headEnd === end || head.includes(":")) return head;
  const functionHead = afterFunctionHead(tokens, headEnd + 1);
  if (functionHead !== null) return `${sliceCode(tokens, start, functionHead)} => …`;
  const whole = sliceCode(tokens, start, end);
  return whole.length <= 80 && !whole.includes("\n") ? whole : `${head} = …`;
}
