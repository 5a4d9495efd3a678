// Words from comments and READMEs, made fit for a page. Their simple Markdown is kept: lists, emphasis, code spans,
// code blocks, links into the web. Everything that could change the page around them is escaped: HTML, headings,
// images, links that would not resolve from here, quotes that never end.
import { code, fence, oneLine } from "./markdown.ts";

const MAX_LINES = 60;
const MAX_CHARACTERS = 4_000;
const CODE_SPAN = /(`+)(?!`)(.*?[^`])\1(?!`)/g;
const WEB_LINK = /\[([^\][<>\n]*)\]\((https?:\/\/[^\s()<>"'`]+)\)/g;

/** Markdown for a comment that may have several paragraphs. */
export function prose(text: string): string {
  const lines = cut(text).split("\n");
  const blocks: string[] = [];
  let open: { sign: string; language: string; lines: string[] } | null = null;
  let plain: string[] = [];
  const flush = (): void => {
    if (plain.length > 0) blocks.push(plainText(plain));
    plain = [];
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
    } else plain.push(line);
  }
  // A block that is never closed still ends with its comment.
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
    // An indented line would become code, and a line of signs a heading or a rule.
    return `${indent.slice(0, 2)}${startOfLine(inlineProse(words))}`.trimEnd();
  });
  return escaped
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function startOfLine(words: string): string {
  return words
    .replace(/^(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|[-=_*]{2,}\s*$|~{3,}|:{3,})/, "\\$1")
    .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}

/** Markdown for words in one line, as in a table or a list. */
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
    parts.push(words(clean.slice(at, span.index)), code(span[2]!.trim()));
    at = span.index + span[0].length;
  }
  parts.push(words(clean.slice(at)));
  return parts.join("");
}

/** Words outside code spans. */
function words(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const found of text.matchAll(WEB_LINK)) {
    const isImage = text[found.index - 1] === "!";
    parts.push(escape(text.slice(at, isImage ? found.index - 1 : found.index)));
    parts.push(`[${escape(found[1]!)}](${found[2]!})`);
    at = found.index + found[0].length;
  }
  parts.push(escape(text.slice(at)));
  return parts.join("");
}

function escape(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[`[\]]/g, "\\$&")
    .replaceAll("\\](", "\\]\\(")
    .replaceAll(/(?<![\p{L}\p{N}])_{2,}|_{2,}(?![\p{L}\p{N}])/gu, (run) => "\\_".repeat(run.length));
}

function cut(text: string): string {
  const lines = text.split("\n");
  const kept = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  return kept.length < text.length ? `${kept.trimEnd()} …` : kept;
}

/** The first sentence, for tables and lists; plain words, not yet Markdown. */
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

/** The first paragraph that is not a list, a heading or code. */
export function firstParagraph(text: string): string {
  const paragraph = text
    .split(/\n\s*\n/)
    .find((block) => block.trim() !== "" && !/^\s*(?:```|~~~|@|[-*+] |#)/.test(block));
  return paragraph?.trim() ?? "";
}

/** A JSDoc comment up to its first tag. */
export function withoutTags(text: string): string {
  return text.replace(/(?:^|\n)\s*@[a-zA-Z][\s\S]*$/, "").trim();
}

/** Title and first paragraph of a Markdown file, without badges, pictures and HTML. */
export function markdownIntroduction(markdown: string): { title: string; text: string } {
  const plain = markdown
    .slice(0, 20_000)
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replace(/^---\n[\s\S]*?\n---\n/, "");
  const title = /^#\s+(.+?)\s*#*$/m.exec(plain)?.[1] ?? /^(.+)\n=+\s*$/m.exec(plain)?.[1] ?? "";
  const body = plain.replace(/^.+\n[=-]{3,}\s*$/m, "");
  const blocks = body.split(/\n\s*\n/).map((block) =>
    block
      .replaceAll(/\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "")
      .replaceAll(/^#{1,6}\s.*$/gm, "")
      .trim(),
  );
  const text = blocks.find((block) => block !== "" && !/^(?:[-*+|>]|\d+\.|```|~~~|<|\[!|\||:::)/.test(block)) ?? "";
  // Links of the README are relative to the README; the words stay, the addresses would not resolve from the page.
  const unlinked = (part: string): string =>
    part.replaceAll(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, "$1").replaceAll(/<\/?[a-z][^>]*>/gi, "");
  return { title: oneLine(unlinked(title)).replaceAll("`", ""), text: unlinked(text).trim().slice(0, 1_500) };
}
