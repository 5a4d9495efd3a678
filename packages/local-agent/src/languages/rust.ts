import { type ExportedName, type DeclarationKind, mergeSameNames } from "../read/facts.ts";
import { fileHeader } from "./file-header.ts";
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
} from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

const OUTER_DOC = { start: /^\/\/\/(?!\/)|^\/\*\*(?!\*)/, skip: ["attribute_item"] };
const KINDS: Record<string, DeclarationKind> = {
  function_item: "function",
  struct_item: "class",
  enum_item: "enum",
  union_item: "class",
  trait_item: "interface",
  const_item: "constant",
  static_item: "constant",
  type_item: "type",
  macro_definition: "function",
};

export function readRust(source: SourceFile): void {
  const { facts, root } = source;
  readItems(source, namedChildren(root), "");
  facts.exports = mergeSameNames(facts.exports);
  facts.header = fileHeader(source, new Set(), /^\/\/!|^\/\*!/);
  readPaths(source);
}

/** Reads paths such as `other_crate::run()`, which need no `use`. The text of macros has no tree. */
function readPaths({ facts, root }: SourceFile): void {
  const paths = capture(root, "(scoped_identifier path: (identifier)) @path", "path").map(({ text }) => text);
  const macros = capture(root, "(macro_invocation) @macro", "macro").flatMap(
    ({ text }) => text.match(/(?<![\w:])[a-z_]\w*::\w+/g) ?? [],
  );
  const used = new Set(facts.imports.map(({ from }) => from));
  for (const path of new Set([...paths, ...macros])) {
    const [from = "", name = ""] = path.split("::").map((part) => part.trim());
    if (!used.has(from) && /^[a-z_]\w*$/.test(from) && /^\w+$/.test(name))
      facts.imports.push({ from, names: [{ imported: name, local: `${from}::${name}` }] });
  }
}

function readItems(source: SourceFile, nodes: SyntaxNode[], prefix: string): void {
  const { facts } = source;
  for (const [index, node] of nodes.entries()) {
    const name = fieldText(node, "name");
    if (node.type === "use_declaration") readUse(source, node);
    else if (node.type === "extern_crate_declaration") readExternCrate(source, node);
    else if (node.type === "impl_item") readImpl(source, node);
    else if (node.type === "mod_item" && field(node, "body") === null)
      facts.imports.push({ from: `mod::${name}`, names: [] });
    if (node.type === "function_item" && name === "main" && prefix === "") facts.isProgram = true;
    if (!isPublic(nodes, index)) continue;
    const doc = docBefore(source, nodes, index, OUTER_DOC);
    const kind = KINDS[node.type];
    if (kind) facts.exports.push(readItem(source, node, prefix + name, kind, doc));
    else if (node.type === "mod_item") readItems(source, namedChildren(field(node, "body")), `${prefix}${name}::`);
  }
}

function readItem(
  source: SourceFile,
  node: SyntaxNode,
  name: string,
  kind: DeclarationKind,
  doc: string,
): ExportedName {
  const isWhole = /^(?:struct|enum|union)_item$/.test(node.type);
  const signature =
    node.type === "macro_definition" ? `macro_rules! ${name}` : isWhole ? quote(source, node) : headOf(source, node);
  const entry = makeName(name, kind, node, signature, doc);
  const members = node.type === "trait_item" ? namedChildren(field(node, "body")) : [];
  for (const [index, member] of members.entries()) {
    if (!/^function_(?:signature_)?item$/.test(member.type)) continue;
    const memberDoc = docBefore(source, members, index, OUTER_DOC);
    entry.members.push({
      name: fieldText(member, "name"),
      signature: headOf(source, member),
      doc: memberDoc,
      line: lineOf(member),
    });
  }
  return entry;
}

/** `pub(crate)` and `pub(super)` are not public. A macro is public by its attribute. */
function isPublic(nodes: SyntaxNode[], index: number): boolean {
  const node = nodes[index]!;
  if (node.type === "macro_definition") {
    let at = index - 1;
    for (; at >= 0 && nodes[at]!.type === "attribute_item"; at -= 1)
      if (nodes[at]!.text.includes("macro_export")) return true;
    return false;
  }
  return namedChildren(node).some(({ type, text }) => type === "visibility_modifier" && text === "pub");
}

/** The methods of a trait for a type belong to the trait. */
function readImpl(source: SourceFile, node: SyntaxNode): void {
  if (field(node, "trait") !== null) return;
  const owner = /^\w+/.exec(fieldText(node, "type"))?.[0] ?? "";
  const members = namedChildren(field(node, "body"));
  for (const [index, member] of members.entries()) {
    if (member.type !== "function_item" || !isPublic(members, index)) continue;
    const doc = docBefore(source, members, index, OUTER_DOC);
    const name = fieldText(member, "name");
    source.facts.ownedMembers.push({ owner, name, signature: headOf(source, member), doc, line: lineOf(member) });
  }
}

function readUse({ facts }: SourceFile, node: SyntaxNode): void {
  const argument = field(node, "argument");
  const isReExport = namedChildren(node).some(({ type, text }) => type === "visibility_modifier" && text === "pub");
  for (const { path, local } of argument === null ? [] : usedPaths(argument, [])) {
    const from = path.slice(0, -1).join("::") || path[0]!;
    const imported = path.at(-1)!;
    facts.imports.push({ from, names: [{ imported, local }] });
    if (isReExport) facts.reExports.push({ name: local, imported, from, line: lineOf(node) });
  }
}

function readExternCrate({ facts }: SourceFile, node: SyntaxNode): void {
  const name = fieldText(node, "name");
  facts.imports.push({ from: name, names: [{ imported: "*", local: fieldText(node, "alias") || name }] });
}

/** Returns the paths of a tree such as `a::{b, c::{d as e, *}}`. */
function usedPaths(node: SyntaxNode, prefix: string[]): { path: string[]; local: string }[] {
  if (node.type === "use_list") return namedChildren(node).flatMap((child) => usedPaths(child, prefix));
  if (node.type === "scoped_use_list")
    return usedPaths(field(node, "list")!, [...prefix, ...segments(field(node, "path"))]);
  if (node.type === "use_wildcard") return [{ path: [...prefix, ...segments(node.namedChild(0)), "*"], local: "*" }];
  const target = node.type === "use_as_clause" ? field(node, "path") : node;
  const parts = segments(target);
  // `a::{self}` means `a`.
  const path = parts.length === 1 && parts[0] === "self" && prefix.length > 0 ? prefix : [...prefix, ...parts];
  return path.length === 0 ? [] : [{ path, local: fieldText(node, "alias") || path.at(-1)! }];
}

function segments(node: SyntaxNode | null): string[] {
  return (node?.text ?? "")
    .split("::")
    .map((part) => part.trim())
    .filter(Boolean);
}
