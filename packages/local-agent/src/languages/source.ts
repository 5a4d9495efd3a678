// Helpers of the readers of languages: children, fields, comments before a declaration and quoted code.
import type { DeclarationKind, ExportedName, ModuleFacts } from "../read/facts.ts";
import { commentWords } from "./comments.ts";
import { dedent, excerpt } from "./quote.ts";
import type { SyntaxNode } from "./syntax.ts";

/** A file under a reader, which adds what it finds to `facts`. */
export interface SourceFile {
  text: string;
  root: SyntaxNode;
  facts: ModuleFacts;
}

interface DocRules {
  /** Matches the beginning of a documentation comment; undefined if every comment is one. */
  start?: RegExp;
  /** The types of nodes between a comment and its declaration, such as attributes. */
  skip?: readonly string[];
  /** Reads the words of a comment; `commentWords` if undefined. */
  words?: (raw: string) => string;
}

const LONGEST_SIGNATURE_LINES = 30;

export function namedChildren(node: SyntaxNode | null): SyntaxNode[] {
  return node === null ? [] : node.namedChildren.filter((child) => child !== null);
}

export function field(node: SyntaxNode | null, name: string): SyntaxNode | null {
  return node?.childForFieldName(name) ?? null;
}

export function fieldText(node: SyntaxNode | null, name: string): string {
  return field(node, name)?.text ?? "";
}

export function childOfType(node: SyntaxNode | null, ...types: string[]): SyntaxNode | null {
  return node?.children.find((child) => child !== null && types.includes(child.type)) ?? null;
}

export function lineOf(node: SyntaxNode): number {
  return node.startPosition.row + 1;
}

/** Returns the text from `node` to `end` (exclusive), dedented and cut after `LONGEST_SIGNATURE_LINES`. */
export function quote(source: SourceFile, node: SyntaxNode, end: number = node.endIndex): string {
  const code = dedent(source.text, node.startIndex, end).trimEnd();
  return excerpt(code.replace(/[;,]$/, "").trimEnd(), LONGEST_SIGNATURE_LINES);
}

/**
 * Returns the declaration without its body. It starts at `from`, which may be a statement around `node` such as an
 * export.
 */
export function headOf(source: SourceFile, node: SyntaxNode, from: SyntaxNode = node): string {
  return quote(source, from, field(node, "body")?.startIndex ?? node.endIndex);
}

/** Returns the comment directly before `children[index]`. Consecutive line comments are one comment. */
export function docBefore(source: SourceFile, children: SyntaxNode[], index: number, rules: DocRules = {}): string {
  let row = children[index]!.startPosition.row;
  let at = index - 1;
  for (; at >= 0 && rules.skip?.includes(children[at]!.type); at -= 1) row = children[at]!.startPosition.row;
  // A comment of another kind may come between the documentation and its declaration.
  const isOther = (node: SyntaxNode): boolean =>
    isComment(node) && rules.start !== undefined && !rules.start.test(node.text) && startsLine(source, node);
  for (; at > 0 && isOther(children[at]!) && row - lastRow(children[at]!) <= 1; at -= 1)
    row = children[at]!.startPosition.row;
  const last = children[at];
  if (!last || !isComment(last) || !startsLine(source, last) || row - lastRow(last) > 1) return "";
  let first = last;
  if (!last.text.startsWith("/*")) {
    for (at -= 1; at >= 0; at -= 1) {
      const above = children[at]!;
      const isJoined = isComment(above) && !above.text.startsWith("/*") && startsLine(source, above);
      if (!isJoined || first.startPosition.row - lastRow(above) !== 1) break;
      if (rules.start && !rules.start.test(above.text)) break;
      first = above;
    }
  }
  if (rules.start && !rules.start.test(last.text)) return "";
  return (rules.words ?? commentWords)(source.text.slice(first.startIndex, last.endIndex).trimEnd());
}

export function isComment(node: SyntaxNode): boolean {
  return node.type === "comment" || node.type === "line_comment" || node.type === "block_comment";
}

/** Rust's line comments include the line feed, so they end in column 0 of the next row. */
export function lastRow(node: SyntaxNode): number {
  const { row, column } = node.endPosition;
  return column === 0 && row > node.startPosition.row ? row - 1 : row;
}

function startsLine(source: SourceFile, node: SyntaxNode): boolean {
  const lineStart = source.text.lastIndexOf("\n", node.startIndex - 1) + 1;
  return source.text.slice(lineStart, node.startIndex).trim() === "";
}

export function makeName(
  name: string,
  kind: DeclarationKind,
  node: SyntaxNode,
  signature: string,
  doc: string,
): ExportedName {
  return { name, kind, line: lineOf(node), signature, doc, members: [], isDefault: false };
}

/** Returns the value of a string literal, and any other text unchanged. */
export function stringValue(text: string): string {
  return /^["'`]/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text;
}
