// Reads the exports of CommonJS: `module.exports = …` and `exports.name = …`.
import { docAt, type ScriptContext } from "./javascript-context.ts";
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

/** The name of an unnamed value that is the only export. */
const UNNAMED = "module.exports";

/** Reads one top-level statement, from its first token to `end`, which is exclusive. */
export function readCommonJs(context: ScriptContext, start: number, end: number): void {
  const { tokens } = context;
  let at = /^(?:const|let|var)$/.test(textAt(tokens, start)) ? start + 1 : start;
  let exportName: string | null = null;
  let isWhole = false;
  // A chain such as `exports = module.exports = value` is one export.
  while (at < end) {
    const target = exportTarget(tokens, at);
    if (target && textAt(tokens, target.end) === "=") {
      exportName = target.name ?? exportName;
      isWhole ||= target.name === null;
      at = target.end + 1;
    } else if (isName(tokens.list[at]) && textAt(tokens, at + 1) === "=" && exportTarget(tokens, at + 2)) {
      at += 2;
    } else break;
  }
  if (exportName === null && !isWhole) return;
  if (exportName !== null) exportValue(context, start, exportName, at, false);
  else if (textAt(tokens, at) === "{") exportObject(context, at);
  else exportValue(context, start, null, at, true);
}

/** Matches `exports`, `module.exports`, `exports.name` and `module.exports.name` at `index`. */
function exportTarget(tokens: ScriptTokens, index: number): { name: string | null; end: number } | null {
  let at = index;
  if (textAt(tokens, at) === "module" && textAt(tokens, at + 1) === ".") at += 2;
  if (textAt(tokens, at) !== "exports") return null;
  at += 1;
  if (textAt(tokens, at) !== ".") return { name: null, end: at };
  return { name: textAt(tokens, at + 1), end: at + 2 };
}

function exportValue(context: ScriptContext, start: number, name: string | null, at: number, isDefault: boolean): void {
  const { tokens, facts } = context;
  const line = tokens.list[start]!.line;
  if (textAt(tokens, at) === "require" && isDefault) {
    const from = stringValue(textAt(tokens, at + 2));
    facts.reExports.push({ name: "*", imported: "*", from, line });
    return;
  }
  const end = afterExpression(tokens, at);
  if (end === at + 1 && isName(tokens.list[at])) {
    const local = textAt(tokens, at);
    context.localExports.push({ local, name: name ?? local, line, isDefault });
    return;
  }
  const doc = docAt(context, start);
  const [declaration] = readDeclaration(tokens, at, start, name ?? UNNAMED)?.declarations ?? [];
  facts.exports.push({
    name: name ?? declaration?.name ?? UNNAMED,
    kind: declaration?.kind ?? "value",
    line,
    signature: declaration?.signature ?? valueSignature(tokens, start, at - 1, end),
    doc,
    members: declaration?.members ?? [],
    isDefault,
  });
}

/** Reads `module.exports = { a, b: c, d() {}, ...require("./e") }`. */
function exportObject(context: ScriptContext, open: number): void {
  const { tokens, facts } = context;
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
      context.localExports.push({ local: name, name, line, isDefault: false });
      at += 1;
    } else if (next === ":" && isName(tokens.list[at + 2]) && /^[,}]$/.test(textAt(tokens, at + 3))) {
      context.localExports.push({ local: textAt(tokens, at + 2), name, line, isDefault: false });
      at += 3;
    } else {
      const head = next === ":" ? null : afterParameters(tokens, at + 1);
      const end = next === ":" ? afterExpression(tokens, at + 2) : afterExpression(tokens, head ?? at + 1);
      const signature = head === null ? valueSignature(tokens, start, at + 1, end) : sliceCode(tokens, start, head);
      const isFunction = head !== null || afterFunctionHead(tokens, at + 2) !== null;
      const kind = isFunction ? "function" : "value";
      facts.exports.push({ name, kind, line, signature, doc: docAt(context, start), members: [], isDefault: false });
      at = end;
    }
  }
}
