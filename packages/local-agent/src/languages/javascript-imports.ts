// Reads imports in every form (statements, `require` and `import()`), and the routes of HTTP servers.
import type { ImportedName } from "../read/facts.ts";
import type { ScriptContext } from "./javascript.ts";
import { field, fieldText, lineOf, namedChildren, stringValue } from "./source.ts";
import { capture, type SyntaxNode } from "./syntax.ts";

const METHODS = new Set(["get", "post", "put", "patch", "delete", "head", "options", "all"]);
const ROUTER = /(?:app|router|routes|server|api)$/i;
const MAX_ROUTES = 300;

export function readImportStatement({ facts }: ScriptContext, statement: SyntaxNode): void {
  const required = namedChildren(statement).find(({ type }) => type === "import_require_clause");
  const from = stringValue(fieldText(statement, "source") || fieldText(required ?? null, "source"));
  if (from === "") return;
  const names: ImportedName[] = [];
  if (required) names.push({ imported: "*", local: required.namedChild(0)?.text ?? "" });
  for (const part of namedChildren(namedChildren(statement).find(({ type }) => type === "import_clause") ?? null)) {
    if (part.type === "identifier") names.push({ imported: "default", local: part.text });
    else if (part.type === "namespace_import") names.push({ imported: "*", local: part.lastNamedChild?.text ?? "" });
    else {
      for (const specifier of namedChildren(part)) {
        const imported = stringValue(fieldText(specifier, "name"));
        names.push({ imported, local: fieldText(specifier, "alias") || imported });
      }
    }
  }
  facts.imports.push({ from, names });
}

/** Reads all calls of `require` and `import()`, with the names that are assigned from them. */
export function readLazyImports({ source, facts }: ScriptContext): void {
  if (!/\b(?:require|import)\s*\(/.test(source.text)) return;
  const calls = capture(
    source.root,
    "(call_expression function: [(identifier) (import)] arguments: (arguments . (string))) @call",
    "call",
  );
  for (const call of calls) {
    if (!/^(?:require|import)$/.test(fieldText(call, "function"))) continue;
    const from = stringValue(field(call, "arguments")!.namedChild(0)!.text);
    facts.imports.push({ from, names: assignedNames(call) });
  }
}

function assignedNames(call: SyntaxNode): ImportedName[] {
  let value = call;
  let member: string | null = null;
  while (value.parent && /^(?:await_expression|member_expression|parenthesized_expression)$/.test(value.parent.type)) {
    value = value.parent;
    if (value.type === "member_expression") {
      if (member !== null) return [];
      member = fieldText(value, "property");
    }
  }
  const target = value.parent;
  const name =
    target?.type === "variable_declarator"
      ? field(target, "name")
      : target?.type === "assignment_expression"
        ? field(target, "left")
        : null;
  if (name?.type === "identifier") return [{ imported: member ?? "*", local: name.text }];
  if (name?.type !== "object_pattern" || member !== null) return [];
  return namedChildren(name).flatMap((part) => {
    if (part.type === "shorthand_property_identifier_pattern") return [{ imported: part.text, local: part.text }];
    const value = field(part, "value");
    return part.type === "pair_pattern" && value?.type === "identifier"
      ? [{ imported: stringValue(fieldText(part, "key")), local: value.text }]
      : [];
  });
}

/** Reads routes that are registered in the style of Express: `router.get("/orders/:id", …)`. */
export function readRoutes({ source, facts }: ScriptContext): void {
  if (!/\.(?:get|post|put|patch|delete|head|options|all)\s*\(\s*["']\//.test(source.text)) return;
  const calls = capture(
    source.root,
    "(call_expression function: (member_expression) arguments: (arguments . (string))) @call",
    "call",
  );
  for (const call of calls) {
    const member = field(call, "function");
    const method = fieldText(member, "property");
    const callArguments = namedChildren(field(call, "arguments"));
    const path = callArguments[0]!;
    const value = stringValue(path.text);
    const isRoute = METHODS.has(method) && ROUTER.test(fieldText(member, "object")) && callArguments.length > 1;
    if (isRoute && value.startsWith("/") && facts.routes.length < MAX_ROUTES)
      facts.routes.push({ method: method.toUpperCase(), path: value, line: lineOf(path) });
  }
}
