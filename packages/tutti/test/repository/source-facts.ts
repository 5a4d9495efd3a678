// Reads the imports, exports and calls of a source file from its syntax tree, so that comments and strings never count.
import { parseAst } from "vitest/node";

export interface SourceFile {
  /** Relative to the repository's root, with forward slashes. */
  path: string;
  text: string;
}

interface Found {
  line: number;
}

export interface SourceFacts {
  /** Every import, re-export, import type and dynamic import. A computed specifier is null. */
  imports: (Found & { specifier: string | null; names: string[] })[];
  /**
   * Dotted names that are read, such as `Date.now` and `setTimeout`. `new Date` stands for a call without arguments.
   */
  uses: (Found & { name: string })[];
  /** Calls whose first argument is or begins with a string: `execFile("git", …)`. */
  calls: (Found & { callee: string; firstArgument: string })[];
  /** The message of each `new TuttiError`, with `…` for parts that the file does not show. */
  errors: (Found & { code: string | null; message: string })[];
  defaultExports: Found[];
  /** Whether the file only re-exports. */
  onlyReExports: boolean;
}

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

export function readFacts(file: SourceFile): SourceFacts {
  const program = parse(file);
  const facts: SourceFacts = { imports: [], uses: [], calls: [], errors: [], defaultExports: [], onlyReExports: false };
  // `visit` goes forward through the text, so the lines are counted once.
  let [counted, lines] = [0, 1];
  const line = ({ start }: Node): number => {
    if (start < counted) [counted, lines] = [0, 1];
    for (let at = file.text.indexOf("\n", counted); at >= 0 && at < start; at = file.text.indexOf("\n", counted)) {
      counted = at + 1;
      lines += 1;
    }
    return lines;
  };
  const statements = children(program, "body");
  facts.onlyReExports =
    statements.length > 0 && statements.every((s) => s.type.startsWith("Export") && child(s, "source") !== undefined);
  const constants = new Map<string, Node[]>();
  visit(program, (node) => {
    const name = node.type === "VariableDeclarator" ? dottedName(child(node, "id")) : null;
    const value = child(node, "init");
    if (name !== null && value) constants.set(name, [...(constants.get(name) ?? []), value]);
  });
  visit(program, (node) => {
    collect(node, facts, line(node));
    if (node.type !== "NewExpression" || dottedName(child(node, "callee")) !== "TuttiError") return;
    const [code, message] = children(node, "arguments");
    facts.errors.push({ line: line(node), code: textOf(code), message: sketch(message, constants) });
  });
  return facts;
}

/** The text of a string, a template or a sum of them. A constant stands for the last value before its use. */
function sketch(node: Node | undefined, constants: ReadonlyMap<string, readonly Node[]>): string {
  const inner = (field: string): string => sketch(child(node, field), constants);
  switch (node?.type) {
    case "Literal":
      return String(node["value"]);
    case "TemplateLiteral": {
      const parts = children(node, "expressions").map((each) => sketch(each, constants));
      return children(node, "quasis")
        .map((each, i) => (each["value"] as { cooked: string }).cooked + (parts[i] ?? ""))
        .join("");
    }
    case "BinaryExpression":
      return inner("left") + inner("right");
    case "ConditionalExpression":
      return [inner("consequent"), inner("alternate")].reduce((a, b) => (a.length < b.length ? a : b));
    case "Identifier": {
      const value = constants.get(String(node["name"]))?.findLast(({ start }) => start < node.start);
      return value ? sketch(value, constants) : "…";
    }
    default:
      return "…";
  }
}

function parse({ path, text }: SourceFile): Node {
  const lang = path.endsWith(".tsx") ? "tsx" : "ts";
  try {
    return parseAst(text, { lang, astType: "ts" }) as unknown as Node;
  } catch (error) {
    throw new Error(`${path} cannot be parsed`, { cause: error });
  }
}

function collect(node: Node, facts: SourceFacts, line: number): void {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ExportNamedDeclaration":
    case "ImportExpression":
    case "TSImportType":
      if (node.type === "ExportNamedDeclaration" && exportsDefault(node)) facts.defaultExports.push({ line });
      if (child(node, "source") !== undefined) {
        facts.imports.push({ line, specifier: textOf(child(node, "source")), names: importedNames(node) });
      }
      break;
    case "ExportDefaultDeclaration":
      facts.defaultExports.push({ line });
      break;
    case "CallExpression": {
      const callee = dottedName(child(node, "callee"));
      const [first] = children(node, "arguments");
      if (callee === "require" || callee === "process.getBuiltinModule") {
        facts.imports.push({ line, specifier: textOf(first), names: [] });
      }
      const firstArgument = beginningOf(first);
      if (callee !== null && firstArgument !== null) facts.calls.push({ line, callee, firstArgument });
      if (callee === "Date") facts.uses.push({ line, name: "Date()" });
      break;
    }
    case "NewExpression":
      if (dottedName(child(node, "callee")) === "Date" && children(node, "arguments").length === 0) {
        facts.uses.push({ line, name: "new Date" });
      }
      break;
    case "MemberExpression":
    case "Identifier": {
      const name = dottedName(node);
      if (name !== null) facts.uses.push({ line, name });
      break;
    }
    case "VariableDeclarator": {
      // `const { now } = Date` is a use of `Date.now`.
      const from = dottedName(child(node, "init"));
      for (const property of children(child(node, "id"), "properties")) {
        const key = dottedName(child(property, "key"));
        if (from !== null && key !== null) facts.uses.push({ line, name: `${from}.${key}` });
      }
      break;
    }
    default:
  }
}

/** Calls `see` for every node that can run or import. Member names and keys are not uses. */
function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  // `typeof setTimeout` in a type runs nothing.
  if (node.type === "TSTypeQuery" && child(node, "exprName")?.type !== "TSImportType") return;
  for (const [field, value] of Object.entries(node)) {
    const isName = (field === "property" || field === "key") && node["computed"] !== true;
    if (isName) continue;
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) visit(item, see);
  }
}

function dottedName(node: Node | undefined): string | null {
  if (node === undefined) return null;
  if (node.type === "Identifier") return String(node["name"]);
  if (node.type !== "MemberExpression") return null;
  const object = dottedName(child(node, "object"));
  const property = child(node, "property");
  const name = node["computed"] === true ? textOf(property) : dottedName(property);
  if (object === null || name === null) return null;
  return object === "globalThis" || object === "window" ? name : `${object}.${name}`;
}

/** Returns the value of a string or of a template without substitutions. */
function textOf(node: Node | undefined): string | null {
  if (node?.type === "Literal") return typeof node["value"] === "string" ? node["value"] : null;
  return children(node, "quasis").length === 1 ? beginningOf(node) : null;
}

/** Like `textOf`, but returns the text before the first substitution of a template. */
function beginningOf(node: Node | undefined): string | null {
  if (node?.type !== "TemplateLiteral") return textOf(node);
  const [first] = children(node, "quasis");
  return (first?.["value"] as { cooked: string } | undefined)?.cooked ?? null;
}

function importedNames(node: Node): string[] {
  return children(node, "specifiers").flatMap((s) => dottedName(child(s, "imported") ?? child(s, "local")) ?? []);
}

function exportsDefault(node: Node): boolean {
  return children(node, "specifiers").some((s) => {
    const exported = child(s, "exported");
    return (dottedName(exported) ?? textOf(exported)) === "default";
  });
}

function child(node: Node | undefined, field: string): Node | undefined {
  const value = node?.[field];
  return isNode(value) ? value : undefined;
}

function children(node: Node | undefined, field: string): Node[] {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
