import { type ExportedName, type ImportedName, mergeSameNames } from "../read/facts.ts";
import { tidyLines } from "./comments.ts";
import { fromReStructured } from "./doc-formats.ts";
import { fileHeader, tidyHeader } from "./file-header.ts";
import {
  docBefore,
  field,
  fieldText,
  headOf,
  lineOf,
  makeName,
  namedChildren,
  quote,
  type SourceFile,
  stringValue,
} from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

/** A `TYPE_VARIABLE` call makes a name for the type checker only. */
const TYPE_VARIABLE = /^(?:typing\.|t\.|te\.|typing_extensions\.)?(?:TypeVar|ParamSpec|TypeVarTuple)$/;

export function readPython(source: SourceFile): void {
  const { facts, root, text } = source;
  const statements = topLevel(root);
  facts.header = tidyHeader(docstring(root)) || fileHeader(source, new Set());
  facts.isProgram ||= /^if __name__ ==/m.test(text);
  for (const index of statements.keys()) {
    const entry = readDefinition(source, statements, index) ?? readConstant(source, statements, index);
    if (entry) facts.exports.push(entry);
  }
  facts.exports = mergeSameNames(withoutImplementations(onlyPublic(statements, facts.exports)));
  for (const statement of capture(root, "[(import_statement) (import_from_statement)] @import", "import"))
    readImport(source, statement);
}

/** Returns the statements of the module, also those in the branches of an `if` or `try`. */
function topLevel(block: SyntaxNode): SyntaxNode[] {
  return namedChildren(block).flatMap((statement) => {
    if (!/^(?:if|try|else|elif|except|finally)_(?:statement|clause)$/.test(statement.type)) return [statement];
    if (statement.text.startsWith("if __name__")) return [];
    return namedChildren(statement).flatMap((part) => (/^(?:block|\w+_clause)$/.test(part.type) ? topLevel(part) : []));
  });
}

function readDefinition(
  source: SourceFile,
  siblings: SyntaxNode[],
  index: number,
): (ExportedName & { isOverload: boolean }) | null {
  const statement = siblings[index]!;
  const node = statement.type === "decorated_definition" ? field(statement, "definition")! : statement;
  if (!/^(?:function|class)_definition$/.test(node.type)) return null;
  const kind = node.type === "class_definition" ? "class" : "function";
  const isOverload = statement !== node && /@(?:\w+\.)*overload\b/.test(statement.text.split("\n")[0]!);
  const body = field(node, "body");
  // A comment above an overload is about the overload, not about the function.
  const doc = (body && docstring(body)) || (isOverload ? "" : docBefore(source, siblings, index));
  const entry = makeName(fieldText(node, "name"), kind, node, headOf(source, node).replace(/\s*:$/, ""), doc);
  if (kind === "class") {
    const members = namedChildren(body);
    for (const at of members.keys()) addMethod(source, entry, members, at);
  }
  return { ...entry, isOverload };
}

function addMethod(source: SourceFile, owner: ExportedName, siblings: SyntaxNode[], index: number): void {
  const method = readDefinition(source, siblings, index);
  if (method?.kind !== "function" || (method.name.startsWith("_") && method.name !== "__init__")) return;
  const known = owner.members.find(({ name }) => name === method.name);
  // The setter of a property and the implementation of overloads repeat a name.
  if (known) known.doc ||= method.doc;
  else owner.members.push({ name: method.name, signature: method.signature, doc: method.doc, line: method.line });
}

function readConstant(source: SourceFile, siblings: SyntaxNode[], index: number): ExportedName | null {
  const statement = siblings[index]!;
  const assignment = statement.type === "expression_statement" ? statement.namedChild(0) : null;
  const left = assignment?.type === "assignment" ? field(assignment, "left") : null;
  const right = field(assignment, "right");
  if (left?.type !== "identifier" || left.text === "__all__" || right === null) return null;
  if (right.type === "call" && TYPE_VARIABLE.test(fieldText(right, "function"))) return null;
  return makeName(
    left.text,
    "constant",
    statement,
    quote(source, statement),
    docBefore(source, siblings, index).replace(/^: ?/gm, ""),
  );
}

/** Callers of an overloaded function cannot see the signature of its implementation, which has the documentation. */
function withoutImplementations(exports: (ExportedName & { isOverload?: boolean })[]): ExportedName[] {
  const overloaded = new Set(exports.filter(({ isOverload }) => isOverload).map(({ name }) => name));
  return exports.map(({ isOverload = false, ...entry }) => {
    const isImplementation = !isOverload && overloaded.has(entry.name);
    const first = exports.find(({ name }) => name === entry.name);
    return isImplementation ? { ...entry, signature: first!.signature } : entry;
  });
}

/** `__all__` lists the public names. Without it, definitions and constants without a leading underscore are public. */
function onlyPublic(statements: SyntaxNode[], exports: ExportedName[]): ExportedName[] {
  const listed = new Set<string>();
  for (const statement of statements) {
    if (!/^__all__\s*(?::[^=\n]*)?\+?=/.test(statement.text)) continue;
    for (const value of capture(statement, "(string) @value", "value")) listed.add(stringValue(value.text));
  }
  if (listed.size > 0) return exports.filter((entry) => listed.has(entry.name));
  return exports.filter(
    ({ name, kind }) => !name.startsWith("_") && (kind !== "constant" || /^[A-Z][A-Z0-9_]*$/.test(name)),
  );
}

function docstring(block: SyntaxNode): string {
  const first = namedChildren(block).find(({ type }) => type !== "comment");
  const value = first?.type === "expression_statement" ? first.namedChild(0) : null;
  if (value?.type !== "string" && value?.type !== "concatenated_string") return "";
  const content = /^[rRuUbB]*("""|'''|"|')([\s\S]*)\1$/.exec(value.text)?.[2] ?? "";
  return fromReStructured(tidyLines(content.split("\n")));
}

function readImport({ facts }: SourceFile, statement: SyntaxNode): void {
  const names = statement.childrenForFieldName("name").filter((node) => node !== null);
  if (statement.type === "import_statement") {
    for (const { imported, local } of names.map(importedName)) {
      facts.imports.push({ from: imported, names: [{ imported: "*", local }] });
    }
    return;
  }
  const from = fieldText(statement, "module_name").replaceAll(/\s/g, "");
  const isWildcard = namedChildren(statement).some(({ type }) => type === "wildcard_import");
  const imported = isWildcard ? [{ imported: "*", local: "*" }] : names.map(importedName);
  facts.imports.push({ from, names: imported });
  // A package re-exports the names that its `__init__.py` imports from its modules.
  if (!facts.path.endsWith("__init__.py") || !from.startsWith(".")) return;
  for (const name of imported) {
    facts.reExports.push({ name: name.local, imported: name.imported, from, line: lineOf(statement) });
  }
}

function importedName(node: SyntaxNode): ImportedName {
  const imported = node.type === "aliased_import" ? fieldText(node, "name") : node.text;
  return { imported, local: fieldText(node, "alias") || imported };
}
