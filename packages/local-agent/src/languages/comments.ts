/** Lines that match `FOR_TOOLS` are directives, not documentation. */
const FOR_TOOLS =
  /^\s*(?:eslint-|prettier-|biome-|oxlint-|tslint:|jshint |jslint |globals? |istanbul ignore|[cv]8 ignore|@ts-|@jsx|@vitest|@flow|#?(?:end)?region\b|# sourceMappingURL|<(?:reference|amd-)|noinspection|nolint|type:\s*ignore|noqa|pylint:|mypy:|rubocop:|frozen_string_literal:|encoding:|shellcheck |clang-format |NOLINT|phpcs:|@phpstan-|-\*-|vim?:|go:\w+|\+build|use strict)/;
/** Together with `MAX_COMMENT_CHARACTERS`, bounds the memory of one comment. */
const MAX_COMMENT_LINES = 200;
const MAX_COMMENT_CHARACTERS = 8_000;

/** Returns the text of a block comment or of consecutive line comments, without markers and indentation. */
export function commentWords(raw: string): string {
  const isBlock = raw.startsWith("/*");
  const lines = (isBlock ? raw.replace(/^\/\*+!?/, "").replace(/\**\/$/, "") : raw).split("\n");
  // If nearly all lines begin with a star (`hasStars`), stars are decoration; else a star is a list item.
  const others = lines.slice(1).filter((line) => !/^\s*(?:\*|$)/.test(line));
  const hasStars = others.length * 10 < lines.length || others.length === 0;
  const stripped = lines.map((line) => {
    if (isBlock) return hasStars ? line.replace(/^\s*\*(?!\*) ?/, "") : line;
    return line.replace(/^\s*(?:\/\/+!?|#+!?|--) ?/, "");
  });
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

export function isLicence(words: string): boolean {
  return /copyright|licen[sc]ed? (?:under|to)|SPDX-|all rights reserved|permission is hereby granted/i.test(words);
}
