const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
/** A command of Tutti in a sentence, up to the quote, bracket or comma behind it. */
const COMMAND = /\btutti [^",:;()]+(?<! )/g;
const NONE = /\p{M}|[\u200b-\u200d]/u;

const widthOf = (sign: string): number => {
  if (NONE.test(sign)) return 0;
  return WIDE.test(sign) || /\p{Emoji_Presentation}/u.test(sign) || sign.codePointAt(0)! >= 0x20000 ? 2 : 1;
};

/** Most lines are printable ASCII, and the regular expressions for all others take 1 ms to compile. */
export const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);

/** Columns that `text` takes on a terminal. An approximation, because terminals differ. */
export const textWidth = (text: string): number => {
  if (isAscii(text)) return text.length;
  let width = 0;
  for (const sign of text) width += widthOf(sign);
  return width;
};

export function cutTo(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const sign of text) {
    width += widthOf(sign);
    if (width > columns - 1) break;
    kept += sign;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** Like `cutTo`, but ends with a whole word, unless that leaves less than half of the columns. */
export function cutAtWord(text: string, columns: number): string {
  const cut = cutTo(text, columns);
  if (cut === text || text[cut.length - 1] === " ") return cut;
  const end = cut.lastIndexOf(" ");
  return end < cut.length / 2 ? cut : `${cut.slice(0, end).trimEnd()}…`;
}

/** Unlike `cutTo`, truncates at the beginning, between two folders where possible. */
export function cutPath(path: string, columns: number): string {
  if (textWidth(path) <= columns) return path;
  const tails = [...path.matchAll(/\//g)].map(({ index }) => `…${path.slice(index)}`);
  return tails.find((tail) => textWidth(tail) <= columns) ?? cutTo(path.slice(path.lastIndexOf("/") + 1), columns);
}

/**
 * Breaks `text` between words into lines of at most `columns`. A longer word has a line of its own. A command of Tutti
 * counts as one word, so that the user can copy it.
 */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  const joined = text.replaceAll(COMMAND, (command) => command.replaceAll(" ", "\0"));
  for (const word of joined.split(" ").map((each) => each.replaceAll("\0", " "))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || textWidth(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
