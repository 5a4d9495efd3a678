// Builds Markdown from any names, comments and code. `oneLine`, `code` and `fence` keep them inside their element.
import { folderOf } from "../read/classify.ts";

/** Control characters become spaces, and text with backticks gets more backticks around it (`longestRun`). */
export function code(text: string): string {
  const clean = oneLine(text);
  const fence = "`".repeat(longestRun(clean) + 1);
  const padding = /^`|`$|^ .* $/.test(clean) || clean === "" ? " " : "";
  return `${fence}${padding}${clean}${padding}${fence}`;
}

export function fence(text: string, language: string): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${language}\n${text.replaceAll(/[^\P{Cc}\n\t]/gu, "")}\n${ticks}`;
}

/** The cells are Markdown already, so only `|`, which would end a cell, is escaped. */
export function table(heads: string[], rows: string[][]): string {
  const cell = (text: string): string => oneLine(text).replaceAll("\\|", "\\ |").replaceAll("|", "\\|");
  const line = (cells: string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), `| ${heads.map(() => "---").join(" | ")} |`, ...rows.map(line)].join("\n");
}

export function link(label: string, target: string): string {
  return `[${label}](${target})`;
}

export function addressFrom(page: string, path: string, line?: number): string {
  const here = folderOf(page).split("/").filter(Boolean);
  const there = path.split("/").filter(Boolean);
  let common = 0;
  while (common < here.length && common < there.length - 1 && here[common] === there[common]) common += 1;
  const steps = [...here.slice(common).map(() => ".."), ...there.slice(common).map(encodeSegment)];
  return `${steps.join("/")}${line === undefined ? "" : `#L${line}`}`;
}

export function placeLink(page: string, path: string, line: number): string {
  return link(code(`${path}:${line}`), addressFrom(page, path, line));
}

export function fileLink(page: string, path: string, label = path): string {
  return link(code(label), addressFrom(page, path));
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed()).replaceAll(
    /[()'*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu, " ").trim();
}

function longestRun(text: string): number {
  let longest = 0;
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  return longest;
}

/** Returns the anchor that GitHub gives to a heading. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/`/g, "")
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}
