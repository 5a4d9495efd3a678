// Quotes code without its indentation, and marks omitted lines with `…`.
import type { ScriptTokens } from "./javascript-tokens.ts";

/** Returns the code from the token `from` to the one before `to`. */
export function sliceCode(tokens: ScriptTokens, from: number, to: number): string {
  const first = tokens.list[from];
  const last = tokens.list[Math.min(to, tokens.list.length) - 1];
  if (!first || !last || last.end <= first.start) return "";
  return dedent(tokens.text, first.start, last.end);
}

export function dedent(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, start))?.[0] ?? "";
  return text
    .slice(start, end)
    .split("\n")
    .map((line, index) => (index > 0 && line.startsWith(indent) ? line.slice(indent.length) : line).trimEnd())
    .join("\n");
}

export function excerpt(code: string, maxLines: number): string {
  const lines = code.split("\n").map((line) => (line.length > 300 ? `${line.slice(0, 300)} …` : line));
  if (lines.length <= maxLines) return lines.join("\n");
  const kept = lines.slice(0, maxLines - 2);
  return [...kept, `  … ${lines.length - kept.length} more lines`].join("\n");
}
