// What a file of JavaScript or TypeScript exports and imports, found by walking over its top-level statements.
import { fileHeader } from "./comments.ts";
import { emptyFacts, type Exported, mergeSameNames, type ModuleFacts } from "../read/facts.ts";
import { readCommonJs } from "./javascript-commonjs.ts";
import { afterStatement, type Declaration, readDeclaration, valueSignature } from "./javascript-declarations.ts";
import { readImportStatement, readLazyImports, stringValue } from "./javascript-imports.ts";
import { docAt, type ScriptReading } from "./javascript-reading.ts";
import { readRoutes } from "./javascript-routes.ts";
import { afterBrackets, afterExpression, isName, startsStatement, textAt } from "./javascript-syntax.ts";
import { tokenize, type ScriptTokens } from "./javascript-tokens.ts";

export function readJavaScript(path: string, language: string, text: string): ModuleFacts {
  const tokens = tokenize(text);
  const facts = emptyFacts(path, language, text);
  const reading: ScriptReading = { tokens, facts, locals: new Map(), byName: [] };
  let at = 0;
  while (at < tokens.list.length) at = Math.max(readStatement(reading, at), at + 1);
  readLazyImports(reading);
  readRoutes(reading);
  for (const { local, name, line, isDefault } of reading.byName) exportLocal(reading, local, name, line, isDefault);
  facts.exports = mergeSameNames(withoutImplementations(reading, facts.exports)).toSorted((a, b) => a.line - b.line);
  facts.header = fileHeader(tokens, new Set(facts.exports.map((entry) => entry.doc)));
  return facts;
}

function readStatement(reading: ScriptReading, index: number): number {
  const { tokens } = reading;
  const text = textAt(tokens, index);
  if (!startsStatement(tokens, index) && textAt(tokens, index - 1) !== "}") return skip(tokens, index);
  if (text === "import" && !/^[(.]$/.test(textAt(tokens, index + 1))) return readImportStatement(reading, index);
  if (text === "export") return readExport(reading, index);
  const declared = readDeclaration(tokens, index, index, "");
  if (declared) {
    for (const [place, declaration] of declared.declarations.entries()) {
      remember(reading, declaration, place === 0 ? docAt(reading, index) : "");
    }
    readCommonJs(reading, index, declared.end);
    return declared.end;
  }
  const end = afterStatement(tokens, index);
  readCommonJs(reading, index, end);
  return end;
}

function skip(tokens: ScriptTokens, index: number): number {
  return /^[([{]$/.test(textAt(tokens, index)) && tokens.list[index]!.type === "punctuation"
    ? afterBrackets(tokens, index)
    : index + 1;
}

function readExport(reading: ScriptReading, index: number): number {
  const { tokens, facts } = reading;
  let at = index + 1;
  const line = tokens.list[index]!.line;
  const isTypeList = textAt(tokens, at) === "type" && /^[{*]$/.test(textAt(tokens, at + 1));
  if (isTypeList) at += 1;
  const text = textAt(tokens, at);
  if (text === "{") return readExportList(reading, at);
  if (text === "*") {
    const isNamed = textAt(tokens, at + 1) === "as";
    const name = isNamed ? stringValue(textAt(tokens, at + 2)) : "*";
    at += isNamed ? 4 : 2;
    if (tokens.list[at]?.type !== "string") return at;
    facts.reExports.push({ name, imported: "*", from: stringValue(textAt(tokens, at)), line });
    return at + 1;
  }
  if (text === "default" || text === "=") return readDefault(reading, index, at + 1);
  const declared = readDeclaration(tokens, at, index, "");
  if (!declared) return afterStatement(tokens, index);
  const doc = docAt(reading, index);
  for (const [place, declaration] of declared.declarations.entries()) {
    // The comment in front of several declarations speaks of the first.
    const own = place === 0 ? doc : "";
    remember(reading, declaration, own);
    facts.exports.push(toExported(declaration, own, declaration.name, false));
  }
  return declared.end;
}

function readExportList(reading: ScriptReading, open: number): number {
  const { tokens, facts } = reading;
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
    else reading.byName.push({ local, name: name === "default" ? local : name, line, isDefault: name === "default" });
  }
  return from?.type === "string" ? close + 3 : close + 1;
}

function readDefault(reading: ScriptReading, index: number, at: number): number {
  const { tokens, facts } = reading;
  const line = tokens.list[index]!.line;
  const declared = readDeclaration(tokens, at, index, "default");
  const doc = docAt(reading, index);
  if (declared) {
    for (const declaration of declared.declarations) {
      remember(reading, declaration, doc);
      facts.exports.push(toExported({ ...declaration, line }, doc, declaration.name, true));
    }
    return declared.end;
  }
  const end = afterExpression(tokens, at);
  if (end === at + 1 && isName(tokens.list[at])) {
    reading.byName.push({ local: textAt(tokens, at), name: textAt(tokens, at), line, isDefault: true });
    return end;
  }
  const signature = valueSignature(tokens, index, at - 1, end);
  facts.exports.push({ name: "default", kind: "value", line, signature, doc, members: [], isDefault: true });
  return end;
}

/** Exports a declaration that stands elsewhere in the file, or a name that the file has only imported. */
function exportLocal(reading: ScriptReading, local: string, name: string, line: number, isDefault: boolean): void {
  const { facts } = reading;
  const known = reading.locals.get(local);
  const isPassedOn = known?.some(({ declaration }) => /=\s*require\s*\(/.test(declaration.signature)) ?? false;
  if (known && !isPassedOn) {
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

function toExported(declaration: Declaration, doc: string, name: string, isDefault: boolean): Exported {
  const { kind, line, signature, members } = declaration;
  return { name, kind, line, signature, doc, members, isDefault };
}

function remember(reading: ScriptReading, declaration: Declaration, doc: string): void {
  const known = reading.locals.get(declaration.name);
  if (known) known.push({ declaration, doc });
  else reading.locals.set(declaration.name, [{ declaration, doc }]);
}

/** With overloads, the declaration that has the body is not part of what callers see. */
function withoutImplementations(reading: ScriptReading, exports: Exported[]): Exported[] {
  return exports.filter((entry) => {
    const all = reading.locals.get(entry.name) ?? [];
    if (!all.some(({ declaration }) => declaration.isOverload)) return true;
    const own = all.find(({ declaration }) => declaration.signature === entry.signature);
    return own === undefined || own.declaration.isOverload || own.declaration.kind !== "function";
  });
}
