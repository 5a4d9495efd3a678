// Converts text of comments and READMEs for a page. Simple Markdown is kept: lists, emphasis, code spans, code blocks
// and web links. Everything that could change the surrounding page is escaped: HTML, headings, images, relative links
// and unclosed code spans.
import { code, fence, oneLine } from "./markdown.ts";

const MAX_LINES = 60;
const MAX_CHARACTERS = 4_000;
const CODE_SPAN = /(`+)(?!`)(.*?[^`])\1(?!`)/g;
const WEB_LINK = /\[([^\][<>\n]*)\]\((https?:\/\/[^\s()<>"'`]+)\)/g;

/** Converts a text that may have several paragraphs. */
export function prose(text: string): string {
  const lines = truncate(text).split("\n");
  const blocks: string[] = [];
  let open: { sign: string; language: string; lines: string[] } | null = null;
  let plainLines: string[] = [];
  const flush = (): void => {
    if (plainLines.length > 0) blocks.push(plainText(plainLines));
    plainLines = [];
  };
  for (const line of lines) {
    const sign = /^\s*(`{3,}|~{3,})\s*([\w+-]*)\s*$/.exec(line);
    if (open && sign?.[1]!.startsWith(open.sign) && sign[2] === "") {
      blocks.push(fence(open.lines.join("\n"), open.language));
      open = null;
    } else if (open) open.lines.push(line);
    else if (sign) {
      flush();
      open = { sign: sign[1]!, language: sign[2]!, lines: [] };
    } else plainLines.push(line);
  }
  // An unclosed code block ends with the comment.
  if (open) blocks.push(fence(open.lines.join("\n"), open.language));
  flush();
  return blocks.filter((block) => block !== "").join("\n\n");
}

function plainText(lines: string[]): string {
  const escaped = lines.map((line) => {
    const indent = /^ */.exec(line)![0];
    const words = line.trim();
    if (/^\|.*\|$/.test(words)) return inlineProse(words);
    const list = /^([-*+]|\d{1,3}[.)])\s+/.exec(words)?.[0];
    if (list) return `${indent.slice(0, 4)}${list.trim()} ${inlineProse(words.slice(list.length))}`;
    // An indented line would become code, and a line of punctuation a heading or a rule.
    return `${indent.slice(0, 2)}${escapeLineStart(inlineProse(words))}`.trimEnd();
  });
  return escaped
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function escapeLineStart(words: string): string {
  return words
    .replace(/^(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|[-=_*]{2,}\s*$|~{3,}|:{3,})/, "\\$1")
    .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}

/** Converts a text for one line of a table or a list. */
export function inlineProse(text: string): string {
  const clean = oneLine(
    text.replaceAll(
      /\{@(?:link|linkcode|linkplain|code)\s+([^{}]*?)\s*\}/g,
      (_, target: string) => `\`${target.replaceAll("`", "")}\``,
    ),
  );
  const parts: string[] = [];
  let at = 0;
  for (const span of clean.matchAll(CODE_SPAN)) {
    parts.push(escapeText(clean.slice(at, span.index)), code(span[2]!.trim()));
    at = span.index + span[0].length;
  }
  parts.push(escapeText(clean.slice(at)));
  return parts.join("");
}

/** Escapes a text outside code spans, except for its web links. */
function escapeText(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(WEB_LINK)) {
    const isImage = text[match.index - 1] === "!";
    parts.push(escapeMarkdown(text.slice(at, isImage ? match.index - 1 : match.index)));
    parts.push(`[${escapeMarkdown(match[1]!)}](${match[2]!})`);
    at = match.index + match[0].length;
  }
  parts.push(escapeMarkdown(text.slice(at)));
  return parts.join("");
}

function escapeMarkdown(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[`[\]]/g, "\\$&")
    .replaceAll("\\](", "\\]\\(")
    .replaceAll(/(?<![\p{L}\p{N}])_{2,}|_{2,}(?![\p{L}\p{N}])/gu, (run) => "\\_".repeat(run.length));
}

function truncate(text: string): string {
  const lines = text.split("\n");
  const kept = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  return kept.length < text.length ? `${kept.trimEnd()} …` : kept;
}

/** Returns the first sentence for tables and lists, unescaped. */
export function firstSentence(text: string, maxLength = 160): string {
  const paragraph = oneLine(firstParagraph(withoutTags(text)));
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx))[.!?](?=\s+["'`(]?[\p{Lu}\d`]|\s*$)/u.exec(paragraph);
  const sentence = end ? paragraph.slice(0, end.index + 1) : paragraph;
  if (sentence.length <= maxLength) return sentence;
  return `${sentence
    .slice(0, maxLength)
    .replace(/\s+\S*$/, "")
    .replace(/[,;:]$/, "")} …`;
}

/** Returns the first paragraph that is not a list, a heading or code. */
export function firstParagraph(text: string): string {
  const paragraph = text
    .split(/\n\s*\n/)
    .find((block) => block.trim() !== "" && !/^\s*(?:```|~~~|@|[-*+] |#)/.test(block));
  return paragraph?.trim() ?? "";
}

/** Returns a JSDoc comment up to its first tag. */
export function withoutTags(text: string): string {
  return text.replace(/(?:^|\n)\s*@[a-zA-Z][\s\S]*$/, "").trim();
}
