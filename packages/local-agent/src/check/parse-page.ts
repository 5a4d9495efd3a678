// `parsePage` reads the links, the headings and the documented names of a page. Links in code blocks and code spans do
// not count.
import { anchorOf } from "../write/markdown.ts";

interface PageLink {
  target: string;
  /** The line of the page, counted from 1. */
  line: number;
  label: string;
}

export interface ParsedPage {
  title: string;
  links: PageLink[];
  anchors: Set<string>;
  /** `place` is the link to the definition, or null if the section has none. */
  names: { name: string; line: number; place: string | null }[];
  /** The first link of each list item, with the title of its section. */
  sectionLinks: { section: string; target: string; line: number }[];
  /** The quotations after `Used like this in`, each with the link to its place. */
  examples: { line: number; target: string; code: string[] }[];
  /** The lines of prose, lists and tables, by the title of their section; "" before the first section. */
  sections: Map<string, { line: number; text: string }[]>;
}

const EXAMPLE = /^Used like this in \[.*\]\(\S+\):$/;
const LINK = /\[((?:`+[^`]*`+|\\.|[^\]\\`])*)\]\(([^()\s]*)\)/g;

export function parsePage(text: string): ParsedPage {
  const page: ParsedPage = {
    title: "",
    links: [],
    anchors: new Set(),
    names: [],
    sectionLinks: [],
    examples: [],
    sections: new Map([["", []]]),
  };
  let section = "";
  const counts = new Map<string, number>();
  const isCode = codeLines(text);
  let lastLine = "";
  for (const [index, line] of text.split("\n").entries()) {
    if (isCode[index]) {
      if (EXAMPLE.test(lastLine)) page.examples.at(-1)?.code.push(line);
      continue;
    }
    if (line !== "") lastLine = line;
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading?.[1] === "##") {
      section = heading[2]!;
      page.sections.set(section, []);
    } else if (line !== "" && !heading) page.sections.get(section)!.push({ line: index + 1, text: line });
    if (EXAMPLE.test(line)) page.examples.push({ line: index + 1, target: linksIn(line)[0]?.target ?? "", code: [] });
    const item = line.startsWith("- ") ? linksIn(line)[0] : undefined;
    if (item) page.sectionLinks.push({ section, target: item.target, line: index + 1 });
    if (heading) readHeading(page, counts, heading[1]!.length, heading[2]!, index + 1);
    for (const found of linksIn(line)) page.links.push({ ...found, line: index + 1 });
    const place = line.startsWith("Defined at ") ? linksIn(line)[0]?.target : undefined;
    const last = page.names.at(-1);
    if (place !== undefined && last?.place === null) last.place = place;
  }
  // The first and the last line of a quotation are its fences.
  for (const example of page.examples) example.code = example.code.slice(1, -1);
  return page;
}

/** An element is true if its line belongs to a code block; the fences belong to it. `linksIn` must skip such lines. */
export function codeLines(text: string): boolean[] {
  let fenced: string | null = null;
  return text.split("\n").map((line) => {
    const sign = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fenced === null) {
      fenced = sign;
      return sign !== null;
    }
    if (sign?.startsWith(fenced) && line.trim() === sign) fenced = null;
    return true;
  });
}

function readHeading(
  page: ParsedPage,
  counts: Map<string, number>,
  level: number,
  heading: string,
  line: number,
): void {
  const anchor = anchorOf(heading);
  const count = counts.get(anchor) ?? 0;
  counts.set(anchor, count + 1);
  page.anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  if (level === 1 && page.title === "") page.title = heading;
  const name = level === 4 ? /^(`+) ?(.*?) ?\1$/.exec(heading)?.[2] : undefined;
  if (name !== undefined) page.names.push({ name, line, place: null });
}

/** The label of a link may be a code span; links inside any other code span are skipped. */
export function linksIn(line: string): { target: string; label: string }[] {
  const found: { target: string; label: string }[] = [];
  let at = 0;
  while (at < line.length) {
    const span = /^(`+)(?!`)(.*?[^`])\1(?!`)/.exec(line.slice(at, at + 4_000));
    if (span) {
      at += span[0].length;
      continue;
    }
    if (line[at] === "\\") {
      at += 2;
      continue;
    }
    LINK.lastIndex = at;
    const link = line[at] === "[" ? LINK.exec(line) : null;
    if (link?.index === at) {
      found.push({ label: link[1]!, target: link[2]! });
      at += link[0].length;
    } else at += 1;
  }
  return found;
}
