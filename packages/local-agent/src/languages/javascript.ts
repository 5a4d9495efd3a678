import { type ExportedName, mergeSameNames, type ModuleFacts } from "../read/facts.ts";
import { fileHeader } from "./file-header.ts";
import { readCommonJs } from "./javascript-commonjs.ts";
import { type Declaration, readDeclaration, valueSignature } from "./javascript-declarations.ts";
import { readImportStatement, readLazyImports, readRoutes } from "./javascript-imports.ts";
import {
  childOfType,
  docBefore,
  field,
  fieldText,
  lineOf,
  namedChildren,
  type SourceFile,
  stringValue,
} from "./source.ts";
import type { SyntaxNode } from "./syntax.ts";

export interface ScriptContext {
  source: SourceFile;
  facts: ModuleFacts;
  /** All top-level declarations by name, exported or not. */
  locals: Map<string, { declaration: Declaration; doc: string }[]>;
  /** Names may be exported before their declaration, so `exportLocal` resolves them at the end of the file. */
  localExports: { local: string; name: string; line: number; isDefault: boolean }[];
}

export function readJavaScript(source: SourceFile): void {
  const { facts } = source;
  const context: ScriptContext = { source, facts, locals: new Map(), localExports: [] };
  const statements = namedChildren(source.root);
  for (const [index, statement] of statements.entries()) {
    readStatement(context, statement, docBefore(source, statements, index, { skip: ["decorator"] }));
  }
  readLazyImports(context);
  readRoutes(context);
  for (const { local, name, line, isDefault } of context.localExports)
    exportLocal(context, local, name, line, isDefault);
  facts.exports = mergeSameNames(withoutImplementations(context, facts.exports)).toSorted((a, b) => a.line - b.line);
  facts.header = fileHeader(source, new Set(facts.exports.map((entry) => entry.doc)));
}

function readStatement(context: ScriptContext, statement: SyntaxNode, doc: string): void {
  if (statement.type === "import_statement") return readImportStatement(context, statement);
  if (statement.type === "export_statement") return readExport(context, statement, doc);
  for (const [place, declaration] of readDeclaration(context.source, statement, statement, "").entries())
    addLocal(context, declaration, place === 0 ? doc : "");
  readCommonJs(context, statement, doc);
}

function readExport(context: ScriptContext, statement: SyntaxNode, doc: string): void {
  const { source, facts } = context;
  const line = lineOf(statement);
  const from = field(statement, "source") === null ? null : stringValue(fieldText(statement, "source"));
  const clause = childOfType(statement, "export_clause");
  const namespace = childOfType(statement, "namespace_export");
  if (clause) return readExportList(context, clause, from);
  if (from !== null) {
    const name = namespace === null ? "*" : stringValue(namespace.lastNamedChild?.text ?? "*");
    facts.reExports.push({ name, imported: "*", from, line });
    return;
  }
  const isDefault = childOfType(statement, "default", "=") !== null;
  const value = field(statement, "value") ?? (isDefault ? statement.lastNamedChild : null);
  const declared = field(statement, "declaration") ?? value;
  if (!declared) return;
  const declarations = readDeclaration(source, declared, statement, isDefault ? "default" : "");
  for (const [place, declaration] of declarations.entries()) {
    // The comment before several declarations documents the first.
    const declarationDoc = place === 0 ? doc : "";
    addLocal(context, declaration, declarationDoc);
    facts.exports.push(toExported(declaration, declarationDoc, declaration.name, isDefault));
  }
  if (declarations.length > 0 || !isDefault) return;
  if (declared.type === "identifier") {
    context.localExports.push({ local: declared.text, name: declared.text, line, isDefault });
    return;
  }
  const signature = valueSignature(source, statement, declared);
  facts.exports.push({ name: "default", kind: "value", line, signature, doc, members: [], isDefault });
}

function readExportList(context: ScriptContext, clause: SyntaxNode, from: string | null): void {
  for (const specifier of namedChildren(clause)) {
    const local = stringValue(fieldText(specifier, "name"));
    const name = stringValue(fieldText(specifier, "alias") || local);
    const line = lineOf(specifier);
    const isDefault = name === "default";
    if (specifier.type !== "export_specifier") continue;
    if (from !== null) context.facts.reExports.push({ name, imported: local, from, line });
    else context.localExports.push({ local, name: isDefault ? local : name, line, isDefault });
  }
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
