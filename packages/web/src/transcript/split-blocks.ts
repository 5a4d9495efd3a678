// `splitBlocks` separates words from delimited reports, for display only. The engine decides which reports count.

export interface BlockFormat {
  delimiterStart: string;
  delimiterEnd: string;
}
type TextPart = { kind: "words"; text: string } | { kind: "report"; phase: string; text: string };

export function splitBlocks(text: string, { delimiterStart, delimiterEnd }: BlockFormat): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(delimiterStart, at);
    const end = start < 0 ? -1 : text.indexOf(delimiterEnd, start + delimiterStart.length);
    const words = text.slice(at, end < 0 ? undefined : start).trim();
    if (words !== "") parts.push({ kind: "words", text: words });
    if (end < 0) return parts;
    const body = text.slice(start + delimiterStart.length, end).trim();
    parts.push({ kind: "report", phase: phaseOf(body), text: body });
    at = end + delimiterEnd.length;
  }
}

/** For a preview. Unlike `splitBlocks`, drops a report that is cut off at its start or its end. */
export function wordsOf(text: string, format: BlockFormat): string {
  const whole = withoutCutStart(text, format);
  const words = splitBlocks(whole, format).flatMap((part) => (part.kind === "words" ? [part.text] : []));
  return words.join(" ").split(format.delimiterStart)[0]!.trim();
}

/** A preview is the end of a longer text, so it may begin in the middle of a report. */
function withoutCutStart(text: string, { delimiterStart, delimiterEnd }: BlockFormat): string {
  const start = text.indexOf(delimiterStart);
  const end = text.indexOf(delimiterEnd);
  if (end >= 0 && (start < 0 || end < start)) return text.slice(end + delimiterEnd.length);
  const isCut = Array.from(delimiterStart, (_, at) => delimiterStart.slice(at)).some(
    (rest) =>
      rest.length > 1 && rest !== delimiterStart && text.startsWith(rest) && /^\s*\{/.test(text.slice(rest.length)),
  );
  return isCut && start < 0 ? "" : text;
}

const phaseOf = (body: string): string => /"phase"\s*:\s*"([a-z_]+)"/.exec(body)?.[1]?.replaceAll("_", " ") ?? "";
