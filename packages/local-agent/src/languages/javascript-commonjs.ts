// The exports of CommonJS: `module.exports = …`, `exports.name = …`, and names attached to what is exported.
import { docAt, type ScriptReading } from "./javascript-reading.ts";
import { readDeclaration, valueSignature } from "./javascript-declarations.ts";
import { stringValue } from "./javascript-imports.ts";
import {
  afterBrackets,
  afterExpression,
  afterFunctionHead,
  afterParameters,
  isName,
  textAt,
} from "./javascript-syntax.ts";
import type { ScriptTokens } from "./javascript-tokens.ts";
import { sliceCode } from "./quote.ts";

/** What a value without a name is called that is the whole of what a file exports. */
const WHOLE = "module.exports";

/** Looks at one top-level statement, from its first token to the one behind it. */
export function readCommonJs(reading: ScriptReading, start: number, end: number): void {
  const { tokens } = reading;
  let at = /^(?:const|let|var)$/.test(textAt(tokens, start)) ? start + 1 : start;
  let named: string | null = null;
  let isWhole = false;
  // A chain such as `exports = module.exports = value` is one export.
  while (at < end) {
    const target = exportTarget(tokens, at);
    if (target && textAt(tokens, target.end) === "=") {
      named = target.name ?? named;
      isWhole ||= target.name === null;
      at = target.end + 1;
    } else if (isName(tokens.list[at]) && textAt(tokens, at + 1) === "=" && exportTarget(tokens, at + 2)) {
      at += 2;
    } else break;
  }
  if (named === null && !isWhole) return;
  if (named !== null) exportValue(reading, start, named, at, false);
  else if (textAt(tokens, at) === "{") exportObject(reading, at);
  else exportValue(reading, start, null, at, true);
}

/** `exports`, `module.exports`, `exports.name` or `module.exports.name` at this place. */
function exportTarget(tokens: ScriptTokens, index: number): { name: string | null; end: number } | null {
  let at = index;
  if (textAt(tokens, at) === "module" && textAt(tokens, at + 1) === ".") at += 2;
  if (textAt(tokens, at) !== "exports") return null;
  at += 1;
  if (textAt(tokens, at) !== ".") return { name: null, end: at };
  return { name: textAt(tokens, at + 1), end: at + 2 };
}

function exportValue(reading: ScriptReading, start: number, name: string | null, at: number, isDefault: boolean): void {
  const { tokens, facts } = reading;
  const line = tokens.list[start]!.line;
  if (textAt(tokens, at) === "require" && isDefault) {
    const from = stringValue(textAt(tokens, at + 2));
    facts.reExports.push({ name: "*", imported: "*", from, line });
    return;
  }
  const end = afterExpression(tokens, at);
  if (end === at + 1 && isName(tokens.list[at])) {
    const local = textAt(tokens, at);
    reading.byName.push({ local, name: name ?? local, line, isDefault });
    return;
  }
  const doc = docAt(reading, start);
  const declared = readDeclaration(tokens, at, start, name ?? WHOLE);
  const [declaration] = declared?.declarations ?? [];
  facts.exports.push({
    name: name ?? declaration?.name ?? WHOLE,
    kind: declaration?.kind ?? "value",
    line,
    signature: declaration?.signature ?? valueSignature(tokens, start, at - 1, end),
    doc,
    members: declaration?.members ?? [],
    isDefault,
  });
}

/** `module.exports = { a, b: c, d() {}, ...require("./e") }` */
function exportObject(reading: ScriptReading, open: number): void {
  const { tokens, facts } = reading;
  const close = Math.min(tokens.partner[open]!, tokens.list.length);
  for (let at = open + 1; at < close; at += 1) {
    const start = at;
    const { line } = tokens.list[start]!;
    if (textAt(tokens, at) === "...") {
      if (textAt(tokens, at + 1) === "require") {
        const from = stringValue(textAt(tokens, at + 3));
        facts.reExports.push({ name: "*", imported: "*", from, line });
      }
      at = afterExpression(tokens, at + 1);
      continue;
    }
    while (/^(?:async|get|set|\*)$/.test(textAt(tokens, at)) && !/^[,:(}]$/.test(textAt(tokens, at + 1))) at += 1;
    const name = stringValue(textAt(tokens, at));
    const next = textAt(tokens, at + 1);
    if (!/^[\p{ID_Start}$_]/u.test(name)) {
      at = afterExpression(tokens, afterBrackets(tokens, at));
    } else if (next === "," || at + 1 === close) {
      reading.byName.push({ local: name, name, line, isDefault: false });
      at += 1;
    } else if (next === ":" && isName(tokens.list[at + 2]) && /^[,}]$/.test(textAt(tokens, at + 3))) {
      reading.byName.push({ local: textAt(tokens, at + 2), name, line, isDefault: false });
      at += 3;
    } else {
      const head = next === ":" ? null : afterParameters(tokens, at + 1);
      const end = next === ":" ? afterExpression(tokens, at + 2) : afterExpression(tokens, head ?? at + 1);
      const signature = head === null ? valueSignature(tokens, start, at + 1, end) : sliceCode(tokens, start, head);
      const isFunction = head !== null || afterFunctionHead(tokens, at + 2) !== null;
      const kind = isFunction ? "function" : "value";
      facts.exports.push({ name, kind, line, signature, doc: docAt(reading, start), members: [], isDefault: false });
      at = end;
    }
  }
}
