import { fileHeader } from "./file-header.ts";
import { docBefore, field, fieldText, makeName, namedChildren, type SourceFile } from "./source.ts";
import type { SyntaxNode } from "./syntax.ts";

export function readShell(source: SourceFile): void {
  const { facts, root } = source;
  const nodes = namedChildren(root);
  let hasCommand = false;
  for (const [index, node] of nodes.entries()) {
    if (node.type === "function_definition") {
      const name = fieldText(node, "name");
      if (!name.startsWith("_"))
        facts.exports.push(makeName(name, "function", node, `${name}()`, docBefore(source, nodes, index)));
    } else if (sourcedPath(node) !== null) facts.imports.push({ from: sourcedPath(node)!, names: [] });
    else if (!/^(?:comment|variable_assignment|variable_assignments|declaration_command)$/.test(node.type))
      hasCommand ||= !/^(?:set|shopt|export|readonly|alias|typeset)\b/.test(node.text);
  }
  // Without `hasCommand` a script only defines functions for scripts that source it, even if it begins with `#!`.
  facts.isProgram &&= hasCommand;
  if (facts.isProgram) facts.exports = [];
  facts.header = fileHeader(source, new Set(facts.exports.map(({ doc }) => doc)));
}

/** Returns the path after the last expansion, as in `. "$(dirname "$0")/lib.sh"`. */
function sourcedPath(node: SyntaxNode): string | null {
  if (node.type !== "command" || !/^(?:source|\.)$/.test(fieldText(node, "name"))) return null;
  const path = /(?:^|[})"$\w])([\w./-]+\.(?:sh|bash))["']?$/.exec(field(node, "argument")?.text ?? "")?.[1];
  return path === undefined ? null : path.replace(/^\//, "./");
}
