// `readIntroduction` finds the title of a README and the first paragraph that says what the project is, not its news,
// badges or thanks.
import { oneLine } from "./markdown.ts";

const NEWS =
  /\b(?:excited|happy|pleased|proud|thrilled) to (?:announce|share|release)\b|\bannouncing\b|\bhas been released\b|\bwe'?re hiring\b|\bsponsor|\bdonat(?:e|ion)|\bthis (?:repository|readme|branch) (?:is|was|has been) (?:archived|moved|deprecated)|\blooking for (?:maintainers|contributors)|^\W*(?:note|news|update|warning|important|caution|tip|notice)\b\W|\b(?:documentation|docs) for (?:the )?(?:latest|version|v\d)|^\W*(?:table of )?contents?\W*$|\bjoin (?:us|our)\b|\bfollow us\b|^(?:see|read|visit|view) (?:the|our|also|more|https?:)|^(?:check out|click here)\b/i;
/** A title that matches `SECTION` belongs to the first section; the README has a picture as its own title. */
const SECTION =
  /^(?:overview|introduction|about|readme|documentation|docs|description|getting started|quick ?start|installation|install|features|usage|welcome|summary|contents|table of contents|what is .*)$/i;
const LONGEST = 1_500;

export const isNews = (text: string): boolean => NEWS.test(text);

export function readIntroduction(text: string, path: string): { title: string; text: string } {
  const markdown = /\.rst$/i.test(path) ? fromReStructured(text) : text;
  const plain = markdown
    .slice(0, 40_000)
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replaceAll(/^(?:```|~~~)[\s\S]*?^(?:```|~~~)\s*$/gm, "")
    .replaceAll(/^\[[^\]\n]+\]:\s+\S+.*$/gm, "");
  const heading = /^#\s+(.+?)\s*#*$|^(.+)\n=+\s*$|<h1\b[^>]*>([\s\S]*?)<\/h1>/m.exec(plain);
  const title = words(heading?.[1] ?? heading?.[2] ?? heading?.[3] ?? "").replace(/[\s:–—-]+$/, "");
  const body = plain.replace(/^.+\n[=-]{3,}\s*$/m, "").replaceAll(/<h\d\b[^>]*>[\s\S]*?<\/h\d>/g, "\n\n");
  const blocks = body.split(/\n\s*\n/).map((block) => words(block.replaceAll(/^#{1,6}\s.*$/gm, "")));
  const introduction = blocks.find((block) => isSentence(block) && !isNews(block)) ?? "";
  const isTitle = /[\p{L}\p{N}]/u.test(title) && !SECTION.test(title);
  return { title: isTitle ? title : "", text: introduction.slice(0, LONGEST) };
}

function isSentence(block: string): boolean {
  return !/^(?:[-*+|>]\s|\||\d+[.)]\s|\[!|:::|\$ |={3,}|-{3,})/.test(block) && /\p{L}+\s+\p{L}+\s+\p{L}+/u.test(block);
}

/** Removes images, badges and HTML, and relative links, because they do not resolve from the page. */
function words(text: string): string {
  return (
    text
      .replaceAll(/\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\](?:\([^)]*\)|\[[^\]]*\]))?/g, "")
      .replaceAll(/<(?:img|br|hr|source)\b[^>]*>/gi, " ")
      .replaceAll(/<\/?[a-z][^>]*>/gi, "")
      .replaceAll(/\[([^\]]*)\]\[[^\]]*\]/g, "$1")
      .replaceAll(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, "$1")
      .replaceAll(/&nbsp;|&#160;/g, " ")
      // A word between single colons is an emoji; `core::fmt::Formatter` has none.
      .replaceAll(/(?<!:):[a-z_+-]+\d*:(?!:)/g, "")
      .split("\n")
      .map((line) => oneLine(line))
      .filter((line) => line !== "")
      .join("\n")
      .trim()
  );
}

function fromReStructured(text: string): string {
  return text
    .replaceAll(/^\.\. [\s\S]*?(?=\n\S)/gm, "")
    .replaceAll(/^([=\-~^*#"]{3,})\n(.+)\n\1$/gm, "# $2")
    .replaceAll(
      /^(.+)\n([=\-~^*#"])\2{2,}$/gm,
      (_, title: string, sign: string) => `${sign === "=" ? "#" : "##"} ${title}`,
    )
    .replaceAll(/`([^`<]+?)\s*<(https?:[^>]+)>`__?/g, "[$1]($2)")
    .replaceAll(/:\w+:`~?([^`]+)`/g, "`$1`")
    .replaceAll("``", "`");
}
