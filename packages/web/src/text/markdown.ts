// `readMarkdown` knows a small part of Markdown, for words of agents: code, headings, lists, emphasis and paragraphs.
// It yields data and no HTML; links stay text, because an agent chooses their addresses.

export interface Inline {
  kind: "text" | "code" | "strong";
  text: string;
}

type MarkdownBlock =
  | { kind: "code"; text: string }
  | { kind: "heading"; inlines: Inline[] }
  | { kind: "item"; depth: number; mark: string; inlines: Inline[] }
  | { kind: "paragraph"; inlines: Inline[] };

export function readMarkdown(text: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let paragraph: string[] = [];
  let code: { fence: string; lines: string[] } | null = null;
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", inlines: readInlines(paragraph.join("\n")) });
    paragraph = [];
  };
  for (const line of text.split("\n")) {
    if (code) {
      if (line.trim() === code.fence) {
        blocks.push({ kind: "code", text: code.lines.join("\n") });
        code = null;
      } else code.lines.push(line);
      continue;
    }
    const [, fence] = /^\s{0,3}(`{3,}|~{3,})[^`]*$/.exec(line) ?? [];
    const [, heading] = /^#{1,6}\s+(.+)$/.exec(line) ?? [];
    const [, space = "", mark, item] = /^(\s{0,12})([-*+]|\d{1,4}[.)])\s+(.+)$/.exec(line) ?? [];
    if (fence === undefined && heading === undefined && item === undefined && line.trim() !== "") {
      paragraph.push(line);
      continue;
    }
    endParagraph();
    if (fence !== undefined) code = { fence, lines: [] };
    else if (heading !== undefined) blocks.push({ kind: "heading", inlines: readInlines(heading) });
    else if (mark !== undefined && item !== undefined) {
      const shown = /\d/.test(mark) ? mark : "•";
      blocks.push({ kind: "item", depth: Math.floor(space.length / 2), mark: shown, inlines: readInlines(item) });
    }
  }
  endParagraph();
  // The code block may lack its end while the agent still writes it.
  if (code) blocks.push({ kind: "code", text: code.lines.join("\n") });
  return blocks;
}

function readInlines(text: string): Inline[] {
  const inlines: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*/g)) {
    if (match.index > at) inlines.push({ kind: "text", text: text.slice(at, match.index) });
    const [whole, code, strong] = match;
    inlines.push(code === undefined ? { kind: "strong", text: strong! } : { kind: "code", text: code });
    at = match.index + whole.length;
  }
  if (at < text.length) inlines.push({ kind: "text", text: text.slice(at) });
  return inlines;
}
