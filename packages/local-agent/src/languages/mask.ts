// Replaces the contents of comments and strings by spaces, so that a search in the masked text finds only code. Offsets
// in the masked text are valid in the original.

interface MaskRules {
  /** Markers of comments that end with the line. */
  line: string[];
  /** Whether the language has the block comments of C. */
  blocks: boolean;
  quotes: string[];
  /** Whether a tripled quote opens a string that spans lines, as in Python. */
  triples: boolean;
  /** Quotes of strings that span lines, such as the raw strings of Go. */
  spanning: string[];
}

export const C_LIKE: MaskRules = { line: ["//"], blocks: true, quotes: ['"', "'"], triples: false, spanning: [] };
export const GO: MaskRules = { ...C_LIKE, quotes: ['"', "'", "`"], spanning: ["`"] };
/** A single quote in Rust is more often a lifetime than a character. */
export const RUST: MaskRules = { ...C_LIKE, quotes: ['"'], spanning: ['"'] };
export const PYTHON: MaskRules = { line: ["#"], blocks: false, quotes: ['"', "'"], triples: true, spanning: [] };

/** In characters. Without a limit, every search from an unclosed bracket would read the rest of the file. */
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
    } else if (rules.line.some((marker) => text.startsWith(marker, at))) {
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

/** Returns the index after the string that opens at `start`. */
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

/** Returns the index of the first of the characters outside all brackets, or the end of the search. */
export function findOutside(masked: string, start: number, characters: string): number {
  const limit = Math.min(masked.length, start + LONGEST_SEARCH);
  let depth = 0;
  for (let at = start; at < limit; at += 1) {
    const char = masked[at]!;
    if (depth === 0 && characters.includes(char)) return at;
    if (char === "(" || char === "[" || char === "{") depth += 1;
    else if ((char === ")" || char === "]" || char === "}") && depth > 0) depth -= 1;
  }
  return limit;
}

/** Returns the comment lines directly above the line at `index`. Lines between them that match `skipped` do not count. */
export function commentLinesAbove(
  lines: string[],
  index: number,
  comment: RegExp,
  skipped: RegExp | null = null,
): string[] {
  let end = index;
  while (end > 0 && skipped?.test(lines[end - 1]!)) end -= 1;
  let start = end;
  while (start > 0 && comment.test(lines[start - 1]!)) start -= 1;
  return lines.slice(start, end);
}
