// Reads C and C++. The public names are those that a header declares; other files have only `imports` and `isProgram`.
import { type ClassMember, type DeclarationKind, type ExportedName, mergeSameNames } from "../read/facts.ts";
import { fileHeader } from "./file-header.ts";
import { fromDoxygen } from "./doc-formats.ts";
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

const TYPES: Record<string, DeclarationKind> = {
  class_specifier: "class",
  struct_specifier: "class",
  union_specifier: "class",
  enum_specifier: "enum",
};
const BLOCKS = /^(?:preproc_(?:ifdef|if|else|elif)|linkage_specification|declaration_list|namespace_definition)$/;
/** Headers put names that are not for callers into `INTERNAL` namespaces. */
const INTERNAL = /^(?:detail|details|internal|impl|_\w*|\w*_internal)$/;
const MAX_MEMBERS = 200;

export function readCpp(source: SourceFile): void {
  const { facts, root } = source;
  for (const include of capture(root, "(preproc_include path: (string_literal) @path)", "path"))
    facts.imports.push({ from: stringValue(include.text), names: [{ imported: "*", local: "" }] });
  if (/\.(?:h|hh|hpp)$/i.test(facts.path)) readBlock(source, root, "");
  else
    facts.isProgram = capture(
      root,
      "(function_definition declarator: (function_declarator declarator: (identifier) @name))",
      "name",
    ).some(({ text }) => text === "main");
  facts.exports = mergeSameNames(facts.exports).filter(({ name }) => !name.startsWith("_"));
  facts.header = fileHeader(source, new Set(facts.exports.map(({ doc }) => doc)), undefined, fromDoxygen);
}

/**
 * Blanks the macros between `class` and its name, such as `class API_EXPORT Name`, which no grammar can know. The text
 * keeps its length, so that all places stay correct.
 */
export function withoutMacros(text: string): string {
  return text.replaceAll(
    /\b(class|struct)(\s+)([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)(?=\s+[A-Za-z_]\w*\s*(?:final\s*)?[:{])/g,
    (_, word: string, space: string, macro: string) => word + space + " ".repeat(macro.length),
  );
}

function readBlock(source: SourceFile, block: SyntaxNode, prefix: string): void {
  const nodes = namedChildren(block);
  for (const [index, node] of nodes.entries()) {
    const doc = fromDoxygen(docBefore(source, nodes, index));
    if (node.type === "namespace_definition") {
      const name = fieldText(node, "name");
      const body = field(node, "body");
      if (name !== "" && !INTERNAL.test(name.split("::").at(-1)!) && body)
        readBlock(source, body, `${prefix}${name}::`);
    } else if (BLOCKS.test(node.type)) readBlock(source, node, prefix);
    else {
      const entry = readItem(source, node, prefix, doc);
      if (entry) source.facts.exports.push(entry);
    }
  }
}

function readItem(source: SourceFile, node: SyntaxNode, prefix: string, doc: string): ExportedName | null {
  if (node.type === "preproc_function_def")
    return makeName(
      fieldText(node, "name"),
      "function",
      node,
      `#define ${fieldText(node, "name")}${fieldText(node, "parameters")}`,
      doc,
    );
  // A macro without a value is a guard or a switch.
  if (node.type === "preproc_def")
    return field(node, "value") === null
      ? null
      : makeName(fieldText(node, "name"), "constant", node, quote(source, node), doc);
  if (node.type === "alias_declaration")
    return makeName(prefix + fieldText(node, "name"), "type", node, quote(source, node), doc);
  if (node.type === "template_declaration") {
    const inner = namedChildren(node).findLast(({ type }) => type !== "template_parameter_list" && type !== "comment");
    const entry = inner ? readItem(source, inner, prefix, doc) : null;
    return entry && { ...entry, signature: `template ${fieldText(node, "parameters")}\n${entry.signature}` };
  }
  const type = TYPES[node.type] ? node : field(node, "type");
  if (type && TYPES[type.type] && field(type, "body")) {
    const name = node.type === "type_definition" ? fieldText(node, "declarator") : fieldText(type, "name");
    return name === "" ? null : readType(source, type, node, prefix + name, doc);
  }
  if (node.type === "type_definition")
    return makeName(
      fieldText(node, "declarator").replaceAll(/^\*+|\W.*$/g, ""),
      "type",
      node,
      quote(source, node),
      doc,
    );
  return readFunction(source, node, prefix, doc);
}

function readType(source: SourceFile, type: SyntaxNode, node: SyntaxNode, name: string, doc: string): ExportedName {
  const kind = TYPES[type.type]!;
  const entry = makeName(
    name,
    kind,
    node,
    kind === "enum" || node.type === "type_definition" ? quote(source, node) : headOf(source, type, node),
    doc,
  );
  if (kind === "enum") return entry;
  let isPublic = type.type !== "class_specifier";
  const nodes = namedChildren(field(type, "body"));
  const isPlain =
    !nodes.some(({ type: member }) => /^(?:function_definition|access_specifier|template_declaration)$/.test(member)) &&
    nodes.every((member) => functionDeclarator(member) === null);
  if (isPlain) return { ...entry, signature: quote(source, node) };
  for (const [index, member] of nodes.entries()) {
    if (member.type === "access_specifier") isPublic = member.text === "public";
    else if (isPublic && entry.members.length < MAX_MEMBERS) addMember(source, entry.members, nodes, index);
  }
  return entry;
}

function addMember(source: SourceFile, members: ClassMember[], nodes: SyntaxNode[], index: number): void {
  const node = nodes[index]!;
  const inner = node.type === "template_declaration" ? (node.lastNamedChild ?? node) : node;
  const declarator = functionDeclarator(inner);
  if (declarator === null || /=\s*delete\s*;?$/.test(inner.text)) return;
  const name = fieldText(declarator, "declarator");
  const list = childList(inner);
  const end = list?.startIndex ?? field(inner, "body")?.startIndex ?? inner.endIndex;
  const doc = fromDoxygen(docBefore(source, nodes, index));
  members.push({ name, signature: quote(source, node, end), doc, line: lineOf(declarator) });
}

/** Returns the initialisers of a constructor, which are not a part of its signature. */
function childList(node: SyntaxNode): SyntaxNode | null {
  return namedChildren(node).find(({ type }) => type === "field_initializer_list") ?? null;
}

/** Finds the declarator of a function behind pointers and references. */
function functionDeclarator(node: SyntaxNode): SyntaxNode | null {
  if (!/^(?:function_definition|declaration|field_declaration)$/.test(node.type)) return null;
  let at = field(node, "declarator");
  while (at && /^(?:pointer|reference)_declarator$/.test(at.type)) at = field(at, "declarator") ?? at.lastNamedChild;
  return at?.type === "function_declarator" ? at : null;
}

function readFunction(source: SourceFile, node: SyntaxNode, prefix: string, doc: string): ExportedName | null {
  const declarator = functionDeclarator(node);
  const name = fieldText(declarator, "declarator");
  // A qualified name is the definition of a member, and parentheses belong to macros or pointers.
  if (declarator === null || !/^[A-Za-z_]\w*$/.test(name)) return null;
  if (!/^(?:[a-z_]|[A-Z]\w*[a-z])/.test(name) && field(node, "type") === null) return null;
  return makeName(prefix + name, "function", node, headOf(source, node), doc);
}
