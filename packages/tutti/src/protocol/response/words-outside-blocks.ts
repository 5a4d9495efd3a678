import type { Delimiters } from "./response-scanner.ts";

/** `wordsOutsideBlocks` also leaves out a block that is cut off at its start or end. */
export function wordsOutsideBlocks(text: string, { delimiterStart, delimiterEnd }: Delimiters): string {
  const parts = text.split(delimiterEnd).map((part, i, { length }) => {
    const start = part.indexOf(delimiterStart);
    if (start !== -1) return part.slice(0, start);
    return i === length - 1 ? part : "";
  });
  return parts.join("").trim();
}
