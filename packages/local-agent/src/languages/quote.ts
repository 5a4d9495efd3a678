// `dedent` quotes code without its indentation, and `excerpt` marks omitted lines with `…`.

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
