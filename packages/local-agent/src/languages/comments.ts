// Extracts the text of comments.
import type { Comment, ScriptTokens } from "./javascript-tokens.ts";

/** Matches directives for tools. */
const FOR_TOOLS =
  /^\s*(?:eslint-|prettier-|biome-|oxlint-|tslint:|jshint |jslint |istanbul ignore|[cv]8 ignore|@ts-|@jsx|@vitest|#?(?:end)?region\b|# sourceMappingURL|noinspection|nolint|type:\s*ignore|noqa|pylint:|mypy:|-\*-|vim?:|go:(?:build|generate|embed)|\+build)/;
/** Limits the memory for comments. */
const MAX_COMMENT_LINES = 200;
const MAX_COMMENT_CHARACTERS = 8_000;

/** Returns the text of a block comment or of consecutive line comments, without markers and indentation. */
export function commentWords(raw: string): string {
  const isBlock = raw.startsWith("/*");
  const lines = (isBlock ? raw.replace(/^\/\*+!?/, "").replace(/\**\/$/, "") : raw).split("\n");
  const stripped = lines.map((line) =>
    isBlock ? line.replace(/^\s*\*(?!\*) ?/, "") : line.replace(/^\s*(?:\/\/+!?|#+!?|--) ?/, ""),
  );
  return tidyLines(stripped);
}

export function tidyLines(lines: string[]): string {
  const kept = lines
    .slice(0, MAX_COMMENT_LINES)
    .map((line) => line.trimEnd())
    .filter((line) => !FOR_TOOLS.test(line) && !/^\s*([-=*_#~/])\1{3,}\s*$/.test(line));
  const filled = kept.filter((line) => line.trim() !== "");
  const indents = filled.slice(1).map((line) => line.length - line.trimStart().length);
  const common = indents.length === 0 ? 0 : Math.min(...indents);
  return kept
    .map((line, index) => (index === 0 ? line.trimStart() : line.slice(Math.min(common, line.search(/\S|$/)))))
    .join("\n")
    .slice(0, MAX_COMMENT_CHARACTERS)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** A licence does not describe the file. */
export function isLicence(words: string): boolean {
  return /copyright|licen[sc]ed? (?:under|to)|SPDX-|all rights reserved/i.test(words);
}

/** Returns the comment that ends directly before `start`. Consecutive line comments are one comment. */
export function commentBefore(tokens: ScriptTokens, start: number): { words: string; start: number } | null {
  let index = lastEndingBefore(tokens.comments, start);
  const last = tokens.comments[index];
  if (!last?.startsLine || !isAdjacent(tokens.text, last.end, start)) return null;
  let first = last;
  if (last.text.startsWith("//")) {
    for (index -= 1; index >= 0; index -= 1) {
      const above = tokens.comments[index]!;
      if (!above.startsLine || !above.text.startsWith("//") || !isAdjacent(tokens.text, above.end, first.start)) break;
      first = above;
    }
  }
  return { words: commentWords(tokens.text.slice(first.start, last.end)), start: first.start };
}

/** Returns the comment at the top of the file, unless it documents an exported name or is a licence. */
export function fileHeader(tokens: ScriptTokens, docs: Set<string>): string {
  const firstCode = tokens.list.find((token) => token.type !== "string" && token.text !== ";");
  const limit = firstCode?.start ?? tokens.text.length;
  for (let index = 0; index < tokens.comments.length; index += 1) {
    let last = tokens.comments[index]!;
    if (last.start > limit) return "";
    const first = last;
    while (last.text.startsWith("//")) {
      const next = tokens.comments[index + 1];
      if (!next?.text.startsWith("//") || !isAdjacent(tokens.text, last.end, next.start)) break;
      last = next;
      index += 1;
    }
    const words = commentWords(tokens.text.slice(first.start, last.end));
    if (words === "" || isLicence(words)) continue;
    const describesFile = /@(?:file(?:overview)?|module|packageDocumentation)\b/.test(words);
    return describesFile || !docs.has(words) ? withoutFileTags(words) : "";
  }
  return "";
}

function withoutFileTags(words: string): string {
  return words
    .replaceAll(/@(?:fileoverview|file|packageDocumentation)\b[ \t]*/g, "")
    .replaceAll(/^@(?:module|author|version|since|license|licence)\b.*$/gm, "")
    .trim();
}

function isAdjacent(text: string, end: number, start: number): boolean {
  const between = text.slice(end, start);
  return between.length < 200 && between.trim() === "" && between.split("\n").length <= 2;
}

/** Binary search, because a file can have as many comments as declarations. */
function lastEndingBefore(comments: Comment[], start: number): number {
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comments[middle]!.end <= start) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
