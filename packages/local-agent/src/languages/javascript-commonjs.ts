// Reads the exports of CommonJS: `module.exports = …` and `exports.name = …`.
import { isFunction, readDeclaration, valueSignature } from "./javascript-declarations.ts";
import type { ScriptContext } from "./javascript.ts";
import { docBefore, field, fieldText, headOf, lineOf, namedChildren, stringValue } from "./source.ts";
import type { SyntaxNode } from "./syntax.ts";

/** The name of the only export if its value has none of its own, as in `module.exports = () => 1`. */
const UNNAMED = "module.exports";

export function readCommonJs(context: ScriptContext, statement: SyntaxNode, doc: string): void {
  let value = assignedValue(statement);
  let exportName: string | null = null;
  let isWhole = false;
  // A chain such as `exports = module.exports = value` is one export.
  while (value?.type === "assignment_expression") {
    const target = exportTarget(fieldText(value, "left"));
    exportName = target?.name ?? exportName;
    isWhole ||= target !== null && target.name === null;
    value = field(value, "right");
  }
  if (value === null || (exportName === null && !isWhole)) return;
  if (exportName !== null) exportValue(context, statement, exportName, value, doc, false);
  else if (value.type === "object") exportObject(context, value);
  else exportValue(context, statement, null, value, doc, true);
}

/** Returns the assignment of an expression statement, or the value of the first declarator. */
function assignedValue(statement: SyntaxNode): SyntaxNode | null {
  const first = statement.namedChild(0);
  if (statement.type === "expression_statement") return first;
  return /^(?:lexical|variable)_declaration$/.test(statement.type) ? field(first, "value") : null;
}

/** Matches `exports`, `module.exports`, `exports.name` and `module.exports.name`. */
function exportTarget(left: string): { name: string | null } | null {
  const found = /^(?:module\s*\.\s*)?exports(?:\s*\.\s*([\w$]+))?$/.exec(left);
  return found ? { name: found[1] ?? null } : null;
}

function exportValue(
  context: ScriptContext,
  statement: SyntaxNode,
  name: string | null,
  value: SyntaxNode,
  doc: string,
  isDefault: boolean,
): void {
  const { source, facts } = context;
  const line = lineOf(statement);
  const required = requiredPath(value);
  if (required !== null && isDefault) {
    facts.reExports.push({ name: "*", imported: "*", from: required, line });
    return;
  }
  if (value.type === "identifier") {
    context.localExports.push({ local: value.text, name: name ?? value.text, line, isDefault });
    return;
  }
  const isNamed = /^(?:class|function_expression|generator_function)$/.test(value.type) && name === null;
  const [declared] = value.type === "class" ? readDeclaration(source, value, statement, name ?? UNNAMED) : [];
  facts.exports.push({
    name: name ?? ((isNamed && fieldText(value, "name")) || UNNAMED),
    kind: isFunction(value) ? "function" : (declared?.kind ?? "value"),
    line,
    signature: declared?.signature ?? functionHead(context, statement, value),
    doc,
    members: declared?.members ?? [],
    isDefault,
  });
}

/** `headOf` leaves the body of a plain function out; `valueSignature` shows the body after an arrow as `…`. */
function functionHead({ source }: ScriptContext, statement: SyntaxNode, value: SyntaxNode): string {
  return isFunction(value) && value.type !== "arrow_function"
    ? headOf(source, value, statement)
    : valueSignature(source, statement, value);
}

/** Reads `module.exports = { a, b: c, d() {}, ...require("./e") }`. */
function exportObject(context: ScriptContext, object: SyntaxNode): void {
  const { source, facts } = context;
  const nodes = namedChildren(object);
  for (const [index, node] of nodes.entries()) {
    const line = lineOf(node);
    if (node.type === "spread_element") {
      const from = requiredPath(node.namedChild(0));
      if (from !== null) facts.reExports.push({ name: "*", imported: "*", from, line });
      continue;
    }
    const key = field(node, "key") ?? field(node, "name");
    const name = node.type === "shorthand_property_identifier" ? node.text : stringValue(key?.text ?? "");
    const value = field(node, "value");
    if (!/^[\p{ID_Start}$_]/u.test(name)) continue;
    if (node.type === "shorthand_property_identifier" || value?.type === "identifier") {
      context.localExports.push({ local: value?.text ?? name, name, line, isDefault: false });
      continue;
    }
    const isMethod = node.type === "method_definition";
    const signature = value === null ? headOf(source, node) : valueSignature(source, node, value);
    const kind = isMethod || (value !== null && isFunction(value)) ? "function" : "value";
    const doc = docBefore(source, nodes, index);
    facts.exports.push({ name, kind, line, signature, doc, members: [], isDefault: false });
  }
}

function requiredPath(value: SyntaxNode | null): string | null {
  if (value?.type !== "call_expression" || fieldText(value, "function") !== "require") return null;
  const argument = field(value, "arguments")?.namedChild(0);
  return argument?.type === "string" ? stringValue(argument.text) : null;
}
