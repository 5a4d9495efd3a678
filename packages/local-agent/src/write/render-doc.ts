// `renderDoc` converts a documentation comment to Markdown: first the text, then parameters, result, errors and
// examples. It reads the tags of JSDoc and the sections of Python docstrings.
import { code, fence } from "./markdown.ts";
import { inlineProse, prose, withoutTags } from "./prose.ts";

interface Tag {
  name: string;
  text: string;
}

const SECTION = /^(Args|Arguments|Parameters|Returns|Raises|Yields|Attributes|Throws|Examples?|Notes?)\s*:\s*$/;

export function renderDoc(doc: string, language: string): string {
  if (language === "Python") return prose(withLists(withDoctests(doc)));
  const parts = [prose(withoutTags(doc))];
  const tags = readTags(doc);
  const deprecated = tags.find(({ name }) => name === "deprecated");
  if (deprecated) parts.push(`**Deprecated.** ${inlineProse(deprecated.text)}`.trim());
  const list: string[] = [];
  for (const { name, text } of tags) {
    const item = renderTag(name, text);
    if (item !== null) list.push(`- ${item}`);
  }
  parts.push(list.join("\n"));
  for (const { name, text } of tags) {
    if (name === "example" && text.trim() !== "") parts.push(renderExample(text, language));
  }
  return parts.filter((part) => part !== "").join("\n\n");
}

function readTags(doc: string): Tag[] {
  const tags: Tag[] = [];
  for (const line of doc.split("\n")) {
    const start = /^\s*@([a-zA-Z]+)\s?(.*)$/.exec(line);
    if (start) tags.push({ name: start[1]!, text: start[2]! });
    else if (tags.length > 0) tags.at(-1)!.text += `\n${line}`;
  }
  return tags.slice(0, 60);
}

function renderTag(name: string, text: string): string | null {
  const typed = /^\{((?:[^{}]|\{[^{}]*\})*)\}\s*/.exec(text.trim());
  const words = text
    .trim()
    .slice(typed?.[0].length ?? 0)
    .trim();
  const type = typed ? ` (${code(typed[1]!)})` : "";
  if (/^(?:param|arg|argument|property|prop|typeParam|template)$/.test(name)) {
    const found = /^\[?([\w$.]+)[^\]\s]*\]?\s*(?:-\s*)?([\s\S]*)$/.exec(words);
    // The signature already contains the bare name.
    if (!found || (type === "" && found[2]!.trim() === "")) return null;
    return `${code(found[1]!)}${type}${found[2]!.trim() === "" ? "" : `: ${inlineProse(found[2]!)}`}`;
  }
  if (words === "" && type === "") return null;
  if (/^returns?$/.test(name))
    return `returns${type === "" ? "" : ` ${code(typed![1]!)}`}${words === "" ? "" : `${type === "" ? "" : ":"} ${inlineProse(words)}`}`;
  if (/^(?:throws|exception)$/.test(name))
    return `throws${type === "" ? "" : ` ${code(typed![1]!)}`} ${inlineProse(words)}`.trim();
  return null;
}

function renderExample(text: string, language: string): string {
  const caption = /<caption>([\s\S]*?)<\/caption>/.exec(text)?.[1] ?? "";
  const body = text.replace(/<caption>[\s\S]*?<\/caption>/, "").trim();
  const words = caption === "" ? "" : `${inlineProse(caption)}\n\n`;
  if (/^(?:```|~~~)/m.test(body)) return words + prose(body);
  return words + fence(body, language === "TypeScript" ? "ts" : "js");
}

function withDoctests(doc: string): string {
  return doc.replaceAll(/(?:^|\n)([ \t]*>>>[^\n]*(?:\n[ \t]*\S[^\n]*)*)/g, (_, session: string) => {
    const lines = session.split("\n");
    const indent = /^[ \t]*/.exec(lines[0]!)![0].length;
    return `\n\`\`\`python\n${lines.map((line) => line.slice(Math.min(indent, line.search(/\S/)))).join("\n")}\n\`\`\``;
  });
}

function withLists(doc: string): string {
  let isSection = false;
  let depth = -1;
  const lines: string[] = [];
  for (const line of doc.split("\n")) {
    const indent = line.search(/\S|$/);
    if (SECTION.test(line)) {
      isSection = true;
      depth = -1;
      lines.push("", line.trim(), "");
    } else if (isSection && line.trim() !== "" && indent > 0) {
      if (depth === -1) depth = indent;
      const entry = /^([\w*]+)(\s*\([^)]*\))?:\s*(.*)$/.exec(line.trim());
      if (indent > depth) lines.push(`  ${line.trim()}`);
      else lines.push(entry ? `- \`${entry[1]}\`${entry[2] ?? ""}: ${entry[3]}` : `- ${line.trim()}`);
    } else {
      if (line.trim() !== "") isSection = false;
      lines.push(line);
    }
  }
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
