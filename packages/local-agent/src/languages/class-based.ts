// `readJava`, `readCSharp` and `readPhp` share one reader: their files consist of types with members.
import { type DeclarationKind, type ExportedName, mergeSameNames } from "../read/facts.ts";
import { fileHeader } from "./file-header.ts";
import { fromJavadoc, fromPhpDoc, fromXmlDoc } from "./doc-formats.ts";
import {
  childOfType,
  docBefore,
  field,
  fieldText,
  lineOf,
  makeName,
  namedChildren,
  quote,
  type SourceFile,
} from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

interface ClassRules {
  doc: { start: RegExp; convert: (doc: string) => string };
  /** Applies to members; `typesNeedModifier` applies to types at the top of a file. */
  isPublicByDefault: boolean;
  typesNeedModifier: boolean;
  readImports: (source: SourceFile) => void;
}

const TYPES: Record<string, DeclarationKind> = {
  class_declaration: "class",
  record_declaration: "class",
  record_struct_declaration: "class",
  struct_declaration: "class",
  trait_declaration: "class",
  interface_declaration: "interface",
  annotation_type_declaration: "interface",
  enum_declaration: "enum",
  delegate_declaration: "type",
};
const MEMBERS =
  /^(?:method|constructor|compact_constructor|field|property|indexer|event|event_field|operator|const|annotation_type_element)_declaration$/;
const MAX_MEMBERS = 200;

const JAVA: ClassRules = {
  doc: { start: /^\/\*\*/, convert: fromJavadoc },
  isPublicByDefault: false,
  typesNeedModifier: true,
  readImports({ facts, root }) {
    for (const node of capture(root, "(import_declaration) @import", "import")) {
      const isStatic = childOfType(node, "static") !== null;
      const isWildcard = childOfType(node, "asterisk") !== null;
      const path = (childOfType(node, "scoped_identifier", "identifier")?.text ?? "").split(".");
      // A static import names a member of a class.
      const type = isStatic && !isWildcard ? path.slice(0, -1) : path;
      const name = type.at(-1) ?? "";
      facts.imports.push({
        from: type.join("."),
        names: isWildcard && !isStatic ? [] : [{ imported: name, local: name }],
      });
    }
  },
};
const C_SHARP: ClassRules = {
  doc: { start: /^\/\/\/|^\/\*\*/, convert: fromXmlDoc },
  isPublicByDefault: false,
  typesNeedModifier: true,
  readImports({ facts, root, text }) {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    facts.mentions = [...new Set(code.match(/\b[A-Z]\w+/g))].slice(0, 2_000).join(" ");
    const namespaces = new Map<string, boolean>();
    for (const node of capture(root, "(using_directive) @using", "using")) {
      if (childOfType(node, "static", "=") === null)
        namespaces.set(node.lastNamedChild?.text ?? "", childOfType(node, "global") !== null);
    }
    for (const outer of outerNamespaces(facts.namespace)) if (!namespaces.has(outer)) namespaces.set(outer, false);
    for (const [from, isGlobal] of namespaces)
      facts.imports.push({ from, names: [], ...(isGlobal ? { isGlobal: true as const } : {}) });
  },
};
const PHP: ClassRules = {
  doc: { start: /^\/\*\*/, convert: fromPhpDoc },
  isPublicByDefault: true,
  typesNeedModifier: false,
  readImports({ facts, root }) {
    for (const clause of capture(root, "(namespace_use_clause) @clause", "clause")) {
      const prefix =
        clause.parent?.type === "namespace_use_group"
          ? `${childOfType(clause.parent.parent, "namespace_name")?.text ?? ""}\\`
          : "";
      const path = prefix + (childOfType(clause, "qualified_name", "name")?.text ?? "");
      const name = path.split("\\").at(-1) ?? "";
      facts.imports.push({
        from: path.replace(/^\\/, ""),
        names: [{ imported: name, local: fieldText(clause, "alias") || name }],
      });
    }
  },
};

export const readJava = (source: SourceFile): void => readTypes(source, JAVA);
export const readCSharp = (source: SourceFile): void => readTypes(source, C_SHARP);
export const readPhp = (source: SourceFile): void => readTypes(source, PHP);

function readTypes(source: SourceFile, rules: ClassRules): void {
  const { facts, root } = source;
  readBlock(source, rules, namedChildren(root), "");
  facts.exports = mergeSameNames(facts.exports);
  facts.header = fileHeader(source, new Set(), undefined, rules.doc.convert);
  // A comment before the package or a type is about that declaration.
  if (facts.exports.some(({ doc }) => doc === facts.header)) facts.header = "";
  rules.readImports(source);
}

/** A file of C# sees the namespaces around its own without `using`. */
function outerNamespaces(namespace: string): string[] {
  const parts = namespace.split(".").filter(Boolean);
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}

function readBlock(source: SourceFile, rules: ClassRules, nodes: SyntaxNode[], prefix: string): void {
  const { facts } = source;
  for (const [index, node] of nodes.entries()) {
    if (/^(?:file_scoped_)?namespace_(?:declaration|definition)$|^package_declaration$/.test(node.type)) {
      facts.namespace ||= field(node, "name")?.text ?? node.namedChild(0)?.text ?? "";
      readBlock(source, rules, namedChildren(field(node, "body")), prefix);
      continue;
    }
    const doc = docOf(source, rules, nodes, index);
    const name = prefix + fieldText(node, "name");
    if (TYPES[node.type] && isVisible(node, prefix === "" ? !rules.typesNeedModifier : rules.isPublicByDefault)) {
      facts.exports.push(readType(source, rules, node, name, doc));
      readBlock(source, rules, namedChildren(field(node, "body")), `${name}.`);
    } else if (node.type === "function_definition" && prefix === "")
      facts.exports.push(makeName(name, "function", node, memberHead(source, node), doc));
  }
}

function readType(source: SourceFile, rules: ClassRules, node: SyntaxNode, name: string, doc: string): ExportedName {
  const kind = TYPES[node.type]!;
  const body = field(node, "body");
  const entry = makeName(name, kind, field(node, "name") ?? startOf(node), memberHead(source, node), doc);
  if (kind === "enum" && body) {
    const cases = namedChildren(body).filter(({ type }) => /^enum_(?:constant|case|member_declaration)$/.test(type));
    const names = cases.map((constant) => fieldText(constant, "name"));
    const shown = names.slice(0, 20).join(", ");
    if (names.length > 0) entry.signature += ` { ${shown}${names.length > 20 ? ", …" : ""} }`;
  }
  const members = namedChildren(body).flatMap((member) =>
    member.type === "enum_body_declarations" ? namedChildren(member) : [member],
  );
  for (const [index, member] of members.entries()) {
    if (!MEMBERS.test(member.type) || entry.members.length >= MAX_MEMBERS) continue;
    if (!isVisible(member, rules.isPublicByDefault || kind === "interface")) continue;
    const signature = memberHead(source, member);
    const nameNode = nameOfMember(member);
    const memberName = (nameNode?.text ?? "").replace(/^\$/, "");
    if (/^main$/i.test(memberName) && /\bstatic\b.*\b(?:void|int|Task)\b/.test(signature))
      source.facts.isProgram = true;
    if (memberName === "" || (memberName.startsWith("__") && memberName !== "__construct")) continue;
    entry.members.push({
      name: memberName,
      signature,
      doc: docOf(source, rules, members, index),
      line: lineOf(nameNode!),
    });
  }
  return entry;
}

function docOf(source: SourceFile, rules: ClassRules, nodes: SyntaxNode[], index: number): string {
  return rules.doc.convert(docBefore(source, nodes, index, { start: rules.doc.start }));
}

function nameOfMember(member: SyntaxNode): SyntaxNode | null {
  const direct = field(member, "name");
  if (direct !== null) return direct;
  const [declarator] = member.descendantsOfType(["variable_declarator", "const_element", "property_element"]);
  return declarator?.namedChild(0) ?? null;
}

function isVisible(node: SyntaxNode, isPublicByDefault: boolean): boolean {
  const modifiers = namedChildren(node)
    .filter(({ type }) => /^(?:modifiers?|visibility_modifier)$/.test(type))
    .map(({ text }) => text)
    .join(" ");
  if (/\b(?:private|protected|internal|file)\b/.test(modifiers)) return false;
  return isPublicByDefault || /\bpublic\b/.test(modifiers);
}

/** Returns the declaration without annotations, attributes and bodies. */
function memberHead(source: SourceFile, node: SyntaxNode): string {
  const from = startOf(node);
  const accessors = field(node, "accessors");
  if (accessors && node.endIndex - from.startIndex < 100) return quote(source, from, node.endIndex);
  const end = field(node, "body") ?? field(node, "value") ?? accessors;
  return quote(source, from, end?.startIndex ?? node.endIndex).replace(/\s*=>?$/, "");
}

/** Returns the first node after annotations, attributes and the comments between them. */
function startOf(node: SyntaxNode): SyntaxNode {
  for (const child of node.children) {
    if (child === null || isBesideDeclaration(child)) continue;
    if (child.type !== "modifiers") return child;
    const first = child.children.find((modifier) => modifier !== null && !isBesideDeclaration(modifier));
    if (first) return first;
  }
  return node;
}

function isBesideDeclaration({ type }: SyntaxNode): boolean {
  return type === "attribute_list" || /(?:annotation|comment)$/.test(type);
}
