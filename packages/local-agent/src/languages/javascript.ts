// Reads the exports and imports of a file of JavaScript or TypeScript from its top-level statements.
import { fileHeader } from "./comments.ts";
import { emptyFacts, type ExportedName, mergeSameNames, type ModuleFacts } from "../read/facts.ts";
import { readCommonJs } from "./javascript-commonjs.ts";
import { afterStatement, type Declaration, readDeclaration, valueSignature } from "./javascript-declarations.ts";
import { readImportStatement, readLazyImports, stringValue } from "./javascript-imports.ts";
import { docAt, type ScriptContext } from "./javascript-context.ts";
import { readRoutes } from "./javascript-routes.ts";
import { afterBrackets, afterExpression, isName, startsStatement, textAt } from "./javascript-syntax.ts";
import { tokenize, type ScriptTokens } from "./javascript-tokens.ts";

export function readJavaScript(path: string, language: string, text: string): ModuleFacts {
  const tokens = tokenize(text);
  const facts = emptyFacts(path, language, text);
  const context: ScriptContext = { tokens, facts, locals: new Map(), localExports: [] };
  let at = 0;
  while (at < tokens.list.length) at = Math.max(readStatement(context, at), at + 1);
  readLazyImports(context);
  readRoutes(context);
  for (const { local, name, line, isDefault } of context.localExports)
    exportLocal(context, local, name, line, isDefault);
  facts.exports = mergeSameNames(withoutImplementations(context, facts.exports)).toSorted((a, b) => a.line - b.line);
  facts.header = fileHeader(tokens, new Set(facts.exports.map((entry) => entry.doc)));
  return facts;
}

function readStatement(context: ScriptContext, index: number): number {
  const { tokens } = context;
  const text = textAt(tokens, index);
  if (!startsStatement(tokens, index) && textAt(tokens, index - 1) !== "}") return afterToken(tokens, index);
  if (text === "import" && !/^[(.]$/.test(textAt(tokens, index + 1))) return readImportStatement(context, index);
  if (text === "export") return readExport(context, index);
  const declared = readDeclaration(tokens, index, index, "");
  if (declared) {
    for (const [place, declaration] of declared.declarations.entries()) {
      addLocal(context, declaration, place === 0 ? docAt(context, index) : "");
    }
    readCommonJs(context, index, declared.end);
    return declared.end;
  }
  const end = afterStatement(tokens, index);
  readCommonJs(context, index, end);
  return end;
}

function afterToken(tokens: ScriptTokens, index: number): number {
  return /^[([{]$/.test(textAt(tokens, index)) && tokens.list[index]!.type === "punctuation"
    ? afterBrackets(tokens, index)
    : index + 1;
}

function readExport(context: ScriptContext, index: number): number {
  const { tokens, facts } = context;
  let at = index + 1;
  const line = tokens.list[index]!.line;
  const isTypeList = textAt(tokens, at) === "type" && /^[{*]$/.test(textAt(tokens, at + 1));
  if (isTypeList) at += 1;
  const text = textAt(tokens, at);
  if (text === "{") return readExportList(context, at);
  if (text === "*") {
    const isNamed = textAt(tokens, at + 1) === "as";
    const name = isNamed ? stringValue(textAt(tokens, at + 2)) : "*";
    at += isNamed ? 4 : 2;
    if (tokens.list[at]?.type !== "string") return at;
    facts.reExports.push({ name, imported: "*", from: stringValue(textAt(tokens, at)), line });
    return at + 1;
  }
  if (text === "default" || text === "=") return readDefault(context, index, at + 1);
  const declared = readDeclaration(tokens, at, index, "");
  if (!declared) return afterStatement(tokens, index);
  const doc = docAt(context, index);
  for (const [place, declaration] of declared.declarations.entries()) {
    // The comment before several declarations documents the first.
    const declarationDoc = place === 0 ? doc : "";
    addLocal(context, declaration, declarationDoc);
    facts.exports.push(toExported(declaration, declarationDoc, declaration.name, false));
  }
  return declared.end;
}

function readExportList(context: ScriptContext, open: number): number {
  const { tokens, facts } = context;
  const close = Math.min(tokens.partner[open]!, tokens.list.length);
  const from = textAt(tokens, close + 1) === "from" ? tokens.list[close + 2] : undefined;
  for (let at = open + 1; at < close; at += 1) {
    if (textAt(tokens, at) === "type" && !/^(?:,|as|\})$/.test(textAt(tokens, at + 1))) at += 1;
    const { line } = tokens.list[at]!;
    const local = stringValue(textAt(tokens, at));
    const isRenamed = textAt(tokens, at + 1) === "as";
    const name = isRenamed ? stringValue(textAt(tokens, at + 2)) : local;
    at += isRenamed ? 3 : 1;
    if (from?.type === "string") facts.reExports.push({ name, imported: local, from: stringValue(from.text), line });
    else
      context.localExports.push({
        local,
        name: name === "default" ? local : name,
        line,
        isDefault: name === "default",
      });
  }
  return from?.type === "string" ? close + 3 : close + 1;
}

function readDefault(context: ScriptContext, index: number, at: number): number {
  const { tokens, facts } = context;
  const line = tokens.list[index]!.line;
  const declared = readDeclaration(tokens, at, index, "default");
  const doc = docAt(context, index);
  if (declared) {
    for (const declaration of declared.declarations) {
      addLocal(context, declaration, doc);
      facts.exports.push(toExported({ ...declaration, line }, doc, declaration.name, true));
    }
    return declared.end;
  }
  const end = afterExpression(tokens, at);
  if (end === at + 1 && isName(tokens.list[at])) {
    context.localExports.push({ local: textAt(tokens, at), name: textAt(tokens, at), line, isDefault: true });
    return end;
  }
  const signature = valueSignature(tokens, index, at - 1, end);
  facts.exports.push({ name: "default", kind: "value", line, signature, doc, members: [], isDefault: true });
  return end;
}

/** Exports a declaration from elsewhere in the file, or re-exports an imported name. */
function exportLocal(context: ScriptContext, local: string, name: string, line: number, isDefault: boolean): void {
  const { facts } = context;
  const known = context.locals.get(local);
  const isImported = known?.some(({ declaration }) => /=\s*require\s*\(/.test(declaration.signature)) ?? false;
  if (known && !isImported) {
    for (const { declaration, doc } of known) facts.exports.push(toExported(declaration, doc, name, isDefault));
    return;
  }
  for (const entry of facts.imports) {
    const imported = entry.names.find((candidate) => candidate.local === local);
    if (!imported) continue;
    facts.reExports.push({ name, imported: imported.imported, from: entry.from, line });
    return;
  }
  facts.exports.push({ name, kind: "value", line, signature: name, doc: "", members: [], isDefault });
}

function toExported(declaration: Declaration, doc: string, name: string, isDefault: boolean): ExportedName {
  const { kind, line, signature, members } = declaration;
  return { name, kind, line, signature, doc, members, isDefault };
}

function addLocal(context: ScriptContext, declaration: Declaration, doc: string): void {
  const known = context.locals.get(declaration.name);
  if (known) known.push({ declaration, doc });
  else context.locals.set(declaration.name, [{ declaration, doc }]);
}

/** Callers of an overloaded function cannot see the declaration with the body. */
function withoutImplementations(context: ScriptContext, exports: ExportedName[]): ExportedName[] {
  return exports.filter((entry) => {
    const declarations = context.locals.get(entry.name) ?? [];
    if (!declarations.some(({ declaration }) => declaration.isOverload)) return true;
    const same = declarations.find(({ declaration }) => declaration.signature === entry.signature);
    return same === undefined || same.declaration.isOverload || same.declaration.kind !== "function";
  });
}
