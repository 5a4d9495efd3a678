// `readDeclaration` returns the names of one declaration of JavaScript or TypeScript, each with its signature without
// the body.
import type { ClassMember, DeclarationKind } from "../read/facts.ts";
import { excerpt } from "./quote.ts";
import {
  childOfType,
  docBefore,
  field,
  fieldText,
  headOf,
  lineOf,
  namedChildren,
  quote,
  type SourceFile,
  stringValue,
} from "./source.ts";
import type { SyntaxNode } from "./syntax.ts";

export interface Declaration {
  name: string;
  kind: DeclarationKind;
  line: number;
  signature: string;
  members: ClassMember[];
  /** Whether this is a declaration of a function without a body. */
  isOverload: boolean;
}

const LONGEST_VALUE_LINES = 14;
const MAX_MEMBERS = 200;
const WHOLE: Record<string, DeclarationKind> = {
  interface_declaration: "interface",
  enum_declaration: "enum",
  type_alias_declaration: "type",
};

/** Reads the declaration at `node`. Its signature starts at `from`, which may be the statement around it. */
export function readDeclaration(
  source: SourceFile,
  node: SyntaxNode,
  from: SyntaxNode,
  fallbackName: string,
): Declaration[] {
  const name = stringValue(fieldText(node, "name")) || fallbackName;
  const start = withoutDecorators(from);
  const declare = (kind: DeclarationKind, signature: string): Declaration[] =>
    name === "" ? [] : [{ name, kind, line: lineOf(node), signature, members: [], isOverload: false }];
  const head = (): string => headOf(source, node, start);
  switch (node.type) {
    case "function_declaration":
    case "generator_function_declaration":
      return declare("function", head());
    case "function_expression":
    case "generator_function":
      return from.type === "export_statement" ? declare("function", head()) : [];
    case "function_signature":
      return declare("function", quote(source, start, node.endIndex)).map((entry) => ({ ...entry, isOverload: true }));
    case "class_declaration":
    case "abstract_class_declaration":
    case "class":
      return declare("class", head()).map((entry) => ({ ...entry, members: readMembers(source, node) }));
    case "internal_module":
    case "module":
      return declare("namespace", head());
    case "lexical_declaration":
    case "variable_declaration":
      return readVariables(source, node, start);
    case "ambient_declaration":
    case "expression_statement": {
      const inner = node.namedChild(0);
      const isDeclaration = inner !== null && (node.type === "ambient_declaration" || inner.type === "internal_module");
      return isDeclaration ? readDeclaration(source, inner, from, fallbackName) : [];
    }
    default: {
      const kind = WHOLE[node.type];
      return kind ? declare(kind, quote(source, start, node.endIndex)) : [];
    }
  }
}

/** A decorator before `export` or `class` is a part of the statement, but not of the signature. */
function withoutDecorators(statement: SyntaxNode): SyntaxNode {
  if (statement.firstChild?.type !== "decorator") return statement;
  return statement.children.find((child) => child !== null && child.type !== "decorator") ?? statement;
}

function readVariables(source: SourceFile, node: SyntaxNode, from: SyntaxNode): Declaration[] {
  const declarators = namedChildren(node).filter(({ type }) => type === "variable_declarator");
  return declarators.flatMap((declarator, index) => {
    const value = field(declarator, "value");
    const start = index === 0 ? from : declarator;
    const lead = index === 0 ? "" : `${node.firstChild?.text ?? ""} `;
    const signature = value === null ? quote(source, start, declarator.endIndex) : valueSignature(source, start, value);
    const kind = value !== null && isFunction(value) ? "function" : "constant";
    return patternNames(field(declarator, "name")).map((name) => ({
      name: name.text,
      kind,
      line: lineOf(name),
      signature: lead + signature,
      members: [],
      isOverload: false,
    }));
  });
}

export function isFunction(value: SyntaxNode): boolean {
  return /^(?:arrow_function|function_expression|generator_function)$/.test(value.type);
}

/** Returns only the head of a function, and any other value whole if it has at most `LONGEST_VALUE_LINES` lines. */
export function valueSignature(source: SourceFile, from: SyntaxNode, value: SyntaxNode): string {
  if (isFunction(value)) {
    const arrow = childOfType(value, "=>");
    return arrow
      ? `${quote(source, from, arrow.endIndex)} …`
      : `${quote(source, from, field(value, "body")?.startIndex ?? value.endIndex)} { … }`;
  }
  const whole = quote(source, from, value.endIndex);
  const lines = source.text.slice(from.startIndex, value.endIndex).split("\n");
  if (lines.length <= LONGEST_VALUE_LINES && whole.length <= 900) return whole;
  // A type describes a long value better than the beginning of the value.
  const beforeValue = quote(source, from, value.startIndex).replace(/\s*=$/, "");
  return beforeValue.includes(":") ? `${beforeValue} = …` : excerpt(whole, LONGEST_VALUE_LINES);
}

/** Returns the name of a declarator, or all names of a destructuring pattern. */
function patternNames(pattern: SyntaxNode | null): SyntaxNode[] {
  if (pattern === null) return [];
  if (/^(?:identifier|shorthand_property_identifier_pattern)$/.test(pattern.type)) return [pattern];
  if (pattern.type === "pair_pattern") return patternNames(field(pattern, "value"));
  if (/^(?:assignment_pattern|object_assignment_pattern)$/.test(pattern.type))
    return patternNames(field(pattern, "left"));
  return /^(?:object_pattern|array_pattern|rest_pattern)$/.test(pattern.type)
    ? namedChildren(pattern).flatMap(patternNames)
    : [];
}

function readMembers(source: SourceFile, node: SyntaxNode): ClassMember[] {
  const members: ClassMember[] = [];
  const nodes = namedChildren(field(node, "body"));
  for (const [index, member] of nodes.entries()) {
    const nameNode = field(member, "name") ?? field(member, "property");
    const isMember = /_definition$|^(?:abstract_)?method_signature$/.test(member.type);
    if (!isMember || nameNode?.type !== "property_identifier" || members.length >= MAX_MEMBERS) continue;
    const name = nameNode.text;
    const access = childOfType(member, "accessibility_modifier")?.text;
    if (name.startsWith("_") || access === "private" || access === "protected") continue;
    // Callers cannot see the implementation of overloads, hence `isImplementation`.
    const isImplementation = member.type === "method_definition" && nodes[index - 1]?.type === "method_signature";
    if (isImplementation && members.at(-1)?.name === name) continue;
    const doc = docBefore(source, nodes, index, { skip: ["decorator"] });
    members.push({ name, signature: memberSignature(source, member), doc, line: lineOf(nameNode) });
  }
  return members;
}

function memberSignature(source: SourceFile, member: SyntaxNode): string {
  const start = withoutDecorators(member);
  const value = field(member, "value");
  if (value === null) return headOf(source, member, start);
  const type = field(member, "type");
  if (type) return quote(source, start, type.endIndex);
  const whole = valueSignature(source, start, value);
  if (isFunction(value) || (whole.length <= 80 && !whole.includes("\n"))) return whole;
  return `${quote(source, start, value.startIndex).replace(/\s*=$/, "")} = …`;
}
