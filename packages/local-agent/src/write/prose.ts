// `prose` and `inlineProse` convert text of comments and READMEs for a page. Simple Markdown is kept: lists, emphasis,
// code spans, code blocks and web links. Everything that could change the surrounding page is escaped: HTML, headings,
// images, relative links and unclosed code spans.
import { code, fence, oneLine } from "./markdown.ts";

const MAX_LINES = 60;
const MAX_CHARACTERS = 4_000;
const LINK_OR_CODE =
  /\[(?<label>(?:`[^`\n]+`|[^\][<>`\n])*)\]\((?<target>https?:\/\/[^\s()<>"'`]+)\)|(?<ticks>`+)(?!`)(?<words>.*?[^`])\k<ticks>(?!`)/g;

/** Unlike `inlineProse`, keeps several paragraphs. */
export function prose(text: string): string {
  const lines = withPlainLinks(truncate(text)).split("\n");
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

/**
 * Joins web links that span lines, and replaces links that mean nothing on a page by their labels: relative links,
 * links by reference, and links of Rust to names.
 */
function withPlainLinks(text: string): string {
  return text
    .replaceAll(/^\[[^\]\n]+\]:\s+\S+.*$/gm, "")
    .replaceAll(
      /(?<!!)\[([^\][]{1,300})\]\(\s*([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\s*\)/g,
      (_, label: string, target: string) =>
        /^https?:\/\//.test(target)
          ? `[${oneLine(label)}](${target.replaceAll("(", "%28").replaceAll(")", "%29")})`
          : label,
    )
    .replaceAll(/(?<![\w\]!])\[([^\][\n]{1,300})\]\[[^\][\n]*\]/g, "$1")
    .replaceAll(/(?<![\w\]!])\[(`[^`\]\n]+`)\](?!\()/g, "$1");
}

function plainText(lines: string[]): string {
  const escaped = lines.map((line) => {
    const indent = /^ */.exec(line)![0];
    const words = line.trim();
    // A heading of a comment must not become one of the page.
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(words)?.[1];
    if (heading) return `\n**${inlineProse(heading)}**\n`;
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

export function inlineProse(text: string): string {
  const clean = oneLine(
    withPlainLinks(text).replaceAll(
      /\{@(?:link|linkcode|linkplain|code)\s+([^{}]*?)\s*\}/g,
      (_, target: string) => `\`${target.replaceAll("`", "")}\``,
    ),
  );
  const parts: string[] = [];
  let at = 0;
  for (const found of clean.matchAll(LINK_OR_CODE)) {
    const { label, target, words } = found.groups!;
    const isImage = target !== undefined && clean[found.index - 1] === "!";
    parts.push(escapeMarkdown(clean.slice(at, isImage ? found.index - 1 : found.index)));
    parts.push(target === undefined ? code(words!.trim()) : `[${inlineCode(label!)}](${target})`);
    at = found.index + found[0].length;
  }
  parts.push(escapeMarkdown(clean.slice(at)));
  return parts.join("");
}

/** `label` may have code spans, but no links. */
function inlineCode(label: string): string {
  return label
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? code(part.slice(1, -1).trim()) : escapeMarkdown(part)))
    .join("");
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

/** Unlike `inlineProse`, returns unescaped text, for tables and lists. */
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

export function withoutTags(text: string): string {
  return text.replace(/(?:^|\n)\s*@[a-zA-Z][\s\S]*$/, "").trim();
}
