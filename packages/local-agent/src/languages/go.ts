// Reads Go. A name with a capital first letter is public. The comment directly above a declaration or above the package
// clause documents it.
import { type ExportedName, type DeclarationKind, mergeSameNames } from "../read/facts.ts";
import { isLicence } from "./comments.ts";
import { goDocWords } from "./doc-formats.ts";
import {
  childOfType,
  docBefore,
  field,
  fieldText,
  headOf,
  makeName,
  namedChildren,
  quote,
  type SourceFile,
  stringValue,
} from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

export function readGo(source: SourceFile): void {
  const { facts, root, text } = source;
  const nodes = namedChildren(root);
  for (const [index, node] of nodes.entries()) {
    const doc = docBefore(source, nodes, index, { words: goDocWords });
    if (node.type === "package_clause") {
      facts.namespace = node.namedChild(0)?.text ?? "";
      facts.header = isLicence(doc) ? "" : doc;
    } else if (node.type === "function_declaration") readFunction(source, node, doc);
    else if (node.type === "method_declaration") readMethod(source, node, doc);
    else if (/^(?:type|const|var)_declaration$/.test(node.type)) readGroup(source, node, doc);
  }
  facts.condition = /^\/\/go:build (.+)$/m.exec(text.slice(0, text.indexOf("\npackage ") + 1))?.[1]?.trim() ?? "";
  facts.exports = mergeSameNames(facts.exports);
  for (const spec of capture(root, "(import_spec) @spec", "spec")) {
    const from = stringValue(fieldText(spec, "path"));
    // The last segment is usually the name of the package, except for a version.
    const segments = from.split("/").filter((segment) => !/^v\d+$/.test(segment));
    const local = fieldText(spec, "name") || (segments.at(-1) ?? from).replace(/\.v\d+$|^go-/g, "");
    facts.imports.push({ from, names: [{ imported: "*", local }] });
  }
}

function isPublic(name: string): boolean {
  return /^\p{Lu}/u.test(name);
}

function readFunction(source: SourceFile, node: SyntaxNode, doc: string): void {
  const name = fieldText(node, "name");
  if (isPublic(name)) source.facts.exports.push(makeName(name, "function", node, headOf(source, node), doc));
  if (name === "main" && source.facts.namespace === "main") source.facts.isProgram = true;
}

function readMethod({ facts, ...source }: SourceFile, node: SyntaxNode, doc: string): void {
  const owner = /(\w+)(?:\[[^\]]*\])?\s*\)$/.exec(fieldText(node, "receiver"))?.[1] ?? "";
  const name = fieldText(node, "name");
  if (!isPublic(name) || !isPublic(owner)) return;
  const { signature, line } = makeName(name, "function", node, headOf({ facts, ...source }, node), doc);
  facts.ownedMembers.push({ owner, name, signature, doc, line });
}

/** Reads `type`, `const` and `var`, alone or in parentheses. */
function readGroup(source: SourceFile, node: SyntaxNode, groupDoc: string): void {
  const list = childOfType(node, "var_spec_list") ?? node;
  const specs = namedChildren(list);
  const isGroup = childOfType(list, "(") !== null;
  for (const [index, spec] of specs.entries()) {
    const doc = isGroup ? docBefore(source, specs, index, { words: goDocWords }) : groupDoc;
    const names = spec.childrenForFieldName("name").filter((name) => name !== null);
    for (const name of names.filter(({ text }) => isPublic(text))) {
      const signature = quote(source, isGroup ? spec : node, spec.endIndex);
      source.facts.exports.push(declareSpec(name.text, spec, signature, doc));
    }
  }
}

function declareSpec(name: string, spec: SyntaxNode, signature: string, doc: string): ExportedName {
  const type = field(spec, "type")?.type;
  const isType = spec.type === "type_spec" || spec.type === "type_alias";
  const kind: DeclarationKind = !isType
    ? "constant"
    : type === "interface_type"
      ? "interface"
      : type === "struct_type"
        ? "class"
        : "type";
  return makeName(name, kind, spec, signature, doc);
}
