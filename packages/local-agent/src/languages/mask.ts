// Code with the contents of its comments and strings blanked out, every other character in its place. What is found
// in the masked text is code; where it is found can be read in the original.

export interface MaskRules {
  /** What opens a comment to the end of the line. */
  line: string[];
  /** Whether C's block comments exist. */
  blocks: boolean;
  quotes: string[];
  /** Quotes that may be tripled to span lines, as in Python. */
  triples: boolean;
  /** Quotes that span lines by themselves, as in Go's raw strings. */
  spanning: string[];
}

export const C_LIKE: MaskRules = { line: ["//"], blocks: true, quotes: ['"', "'"], triples: false, spanning: [] };
export const GO: MaskRules = { ...C_LIKE, quotes: ['"', "'", "`"], spanning: ["`"] };
/** A single quote in Rust is more often a lifetime than a character. */
export const RUST: MaskRules = { ...C_LIKE, quotes: ['"'], spanning: ['"'] };
export const PYTHON: MaskRules = { line: ["#"], blocks: false, quotes: ['"', "'"], triples: true, spanning: [] };

/** No declaration is longer; a bracket that is never closed must not cost the whole file again and again. */
const LONGEST_SEARCH = 8_000;

export function mask(text: string, rules: MaskRules): string {
  const parts: string[] = [];
  let at = 0;
  let kept = 0;
  const blank = (from: number, to: number): void => {
    parts.push(text.slice(kept, from), text.slice(from, to).replaceAll(/[^\n]/g, " "));
    kept = to;
    at = to;
  };
  while (at < text.length) {
    const char = text[at]!;
    if (rules.blocks && char === "/" && text[at + 1] === "*") {
      const end = text.indexOf("*/", at + 2);
      blank(at, end === -1 ? text.length : end + 2);
    } else if (rules.line.some((sign) => text.startsWith(sign, at))) {
      const end = text.indexOf("\n", at);
      blank(at, end === -1 ? text.length : end);
    } else if (rules.quotes.includes(char)) {
      blank(at + 1, stringEnd(text, at, rules) - 1);
      at += 1;
    } else {
      at += 1;
    }
  }
  parts.push(text.slice(kept));
  return parts.join("");
}

/** The index behind a string that opens at `start`, where a tripled quote counts as one long quote. */
export function stringEnd(text: string, start: number, rules: MaskRules): number {
  const quote = text[start]!;
  const isTriple = rules.triples && text.startsWith(quote.repeat(3), start);
  const closing = isTriple ? quote.repeat(3) : quote;
  const spans = isTriple || rules.spanning.includes(quote);
  for (let at = start + closing.length; at < text.length; at += 1) {
    if (text[at] === "\\" && quote !== "`") at += 1;
    else if (text.startsWith(closing, at)) return at + closing.length;
    else if (text[at] === "\n" && !spans) return at + 1;
  }
  return text.length + 1;
}

/** The index of the first of the characters at depth zero of all brackets, or where the search gives up. */
export function findOutside(masked: string, start: number, wanted: string): number {
  const limit = Math.min(masked.length, start + LONGEST_SEARCH);
  let depth = 0;
  for (let at = start; at < limit; at += 1) {
    const char = masked[at]!;
    if (depth === 0 && wanted.includes(char)) return at;
    if (char === "(" || char === "[" || char === "{") depth += 1;
    else if ((char === ")" || char === "]" || char === "}") && depth > 0) depth -= 1;
  }
  return limit;
}

/** The run of comment lines that ends right above the line at `index`, skipping attributes and decorators. */
export function commentLinesAbove(
  lines: string[],
  index: number,
  sign: RegExp,
  skipped: RegExp | null = null,
): string[] {
  let end = index;
  while (end > 0 && skipped?.test(lines[end - 1]!)) end -= 1;
  let start = end;
  while (start > 0 && sign.test(lines[start - 1]!)) start -= 1;
  return lines.slice(start, end);
}
