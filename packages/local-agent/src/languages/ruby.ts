import { type ExportedName, mergeSameNames } from "../read/facts.ts";
import { fileHeader } from "./file-header.ts";
import { fromYard } from "./doc-formats.ts";
import {
  docBefore,
  field,
  fieldText,
  lineOf,
  makeName,
  namedChildren,
  quote,
  type SourceFile,
  stringValue,
} from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

const MAX_MEMBERS = 200;

export function readRuby(source: SourceFile): void {
  const { facts, root } = source;
  readBlock(source, root, "");
  facts.exports = mergeSameNames(facts.exports);
  facts.header = fromYard(fileHeader(source, new Set(facts.exports.map(({ doc }) => doc))));
  for (const call of capture(root, "(call method: (identifier) arguments: (argument_list . (string))) @call", "call")) {
    const method = fieldText(call, "method");
    if (!/^(?:require|require_relative|autoload)$/.test(method)) continue;
    const path = stringValue(field(call, "arguments")!.namedChild(0)!.text);
    facts.imports.push({ from: method === "require_relative" ? `./${path}` : path, names: [] });
  }
  for (const call of capture(
    root,
    "(call method: (identifier) arguments: (argument_list . (simple_symbol) . (string) @path)) @call",
    "path",
  ))
    facts.imports.push({ from: stringValue(call.text), names: [] });
}

/** The comment of the first statement in a body precedes the body in the tree. */
function statementsOf(node: SyntaxNode): SyntaxNode[] {
  return namedChildren(node).flatMap((child) => (child.type === "body_statement" ? namedChildren(child) : [child]));
}

function readBlock(source: SourceFile, block: SyntaxNode, prefix: string): void {
  const nodes = statementsOf(block);
  for (const [index, node] of nodes.entries()) {
    if (node.type !== "class" && node.type !== "module") continue;
    const name = prefix + fieldText(node, "name");
    const doc = fromYard(docBefore(source, nodes, index));
    const superclass = fieldText(node, "superclass");
    const entry = makeName(
      name,
      "class",
      node,
      `${node.type} ${name}${superclass === "" ? "" : ` ${superclass}`}`,
      doc,
    );
    readMethods(source, entry, node);
    // A module around other definitions is only a namespace.
    if (node.type === "class" || entry.members.length > 0) source.facts.exports.push(entry);
    readBlock(source, node, `${name}::`);
  }
}

function readMethods(source: SourceFile, owner: ExportedName, node: SyntaxNode): void {
  let isPublic = true;
  const nodes = statementsOf(node);
  for (const [index, member] of nodes.entries()) {
    if (member.type === "identifier" && /^(?:private|protected|public)$/.test(member.text))
      isPublic = member.text === "public";
    else if (member.type === "singleton_class") readMethods(source, owner, member);
    else if (member.type === "method" || member.type === "singleton_method") {
      const name = fieldText(member, "name");
      if ((!isPublic && member.type === "method") || name.startsWith("_") || owner.members.length >= MAX_MEMBERS)
        continue;
      const doc = fromYard(docBefore(source, nodes, index));
      if (doc.startsWith("@private") || doc.startsWith(":nodoc:")) continue;
      const inSelf = node.type === "singleton_class" ? "self." : "";
      const signature = methodHead(source, member).replace(/^def /, `def ${inSelf}`);
      owner.members.push({ name, signature, doc, line: lineOf(member) });
    } else if (
      isPublic &&
      member.type === "call" &&
      /^attr_(?:reader|accessor|writer)$/.test(fieldText(member, "method"))
    ) {
      for (const symbol of namedChildren(field(member, "arguments"))) {
        if (symbol.type !== "simple_symbol") continue;
        const name = symbol.text.slice(1);
        owner.members.push({
          name,
          signature: `${fieldText(member, "method")} :${name}`,
          doc: fromYard(docBefore(source, nodes, index)),
          line: lineOf(symbol),
        });
      }
    }
  }
}

function methodHead(source: SourceFile, method: SyntaxNode): string {
  const end = field(method, "parameters")?.endIndex ?? field(method, "name")?.endIndex ?? method.endIndex;
  return quote(source, method, end);
}
