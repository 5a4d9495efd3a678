// `findLeftovers` reports markup of comments, escaped links, conflict marks, empty rows and duplicates in a page.
import { codeLines } from "./parse-page.ts";

interface Leftover {
  line: number;
  problem: string;
}

/** More than `MAX_LINES` lines are a dump, not documentation. */
const MAX_LINES = 3_000;
const MARKUP: { pattern: RegExp; problem: string }[] = [
  { pattern: /^\s*(?:\*+\/|\/\*+|\\?\*{1,2})\s*$/, problem: "The line is only a comment mark." },
  { pattern: /^\s*(?:\/\/|\\?#!)/, problem: "The line begins with comment syntax." },
  {
    pattern: /:(?:class|func|meth|attr|ref|doc|mod|data|exc|obj):\\?`/,
    problem: "A role of reStructuredText is left.",
  },
  { pattern: /^\s*\.\. [\w-]+::/, problem: "A directive of reStructuredText is left." },
  { pattern: /\{@(?:link|code|inheritDoc|literal)\b/, problem: "A tag of a comment is left." },
  { pattern: /\\\]\\?\(https?:/, problem: "A link is broken." },
  {
    pattern: /&lt;\/?(?:summary|remarks|param|returns|reference|see|paramref)\b/,
    problem: "An element of XML is left.",
  },
  { pattern: /^={1,4} \S/, problem: "A heading of RDoc is left." },
  { pattern: /^(?:<{7} |>{7} |={7}$)/, problem: "A mark of a merge conflict is left." },
  { pattern: /^\\?\[feature\(|^\\?\[allow\(/, problem: "An attribute is taken for a description." },
];

export function findLeftovers(text: string): Leftover[] {
  const found: Leftover[] = [];
  const isCode = codeLines(text);
  const lines = text.split("\n");
  if (lines.length > MAX_LINES) found.push({ line: 1, problem: `The page has ${lines.length} lines.` });
  let rows = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const add = (problem: string): void => void found.push({ line: index + 1, problem });
    if (isCode[index] || index === 0) continue;
    const prose = line.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, "`…`");
    for (const { pattern, problem } of MARKUP) if (pattern.test(prose)) add(problem);
    const cells = line.startsWith("| ") ? line.slice(2, -2).split(" | ") : null;
    if (cells === null || cells.every((cell) => /^-+$/.test(cell))) {
      if (cells === null) rows = new Set();
      continue;
    }
    const [first = "", ...others] = cells.map((cell) => cell.trim());
    if (others.every((cell) => cell === "" || cell === "|")) add(`The row of ${first} is empty.`);
    if (rows.has(cells.join("|"))) add(`The row of ${first} is there twice.`);
    rows.add(cells.join("|"));
    for (const cell of cells) {
      const names = cell.split(", ");
      const twice = names.find((name, at) => /^`[^`]+`$/.test(name) && names.indexOf(name) !== at);
      if (twice !== undefined) add(`The name ${twice} is listed twice.`);
    }
  }
  return found;
}
