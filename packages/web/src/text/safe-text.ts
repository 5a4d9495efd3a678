// Text of agents is shown as text and nothing else. React sees to it that no markup is read from it; this file sees to
// what text itself can do: turn the reading direction, hide behind control characters, or have no end.

const ESCAPE = String.fromCodePoint(27);
/** Colours and cursor movements of terminals, which say nothing here. */
const TERMINAL_CODES = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, "g");
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** What cannot be seen or turns the line around is written out, so that it can be seen and does nothing. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(TERMINAL_CODES, "")
    .replaceAll(INVISIBLE, (sign) => (sign === "\n" || sign === "\t" ? sign : written(sign)));
}

const written = (sign: string): string => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** At most `max` characters, with a sign that there was more. */
export function bounded(text: string, max: number): string {
  if (text.length <= max) return text;
  // Half of a pair at the end would be shown as a broken character.
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")} …`;
}

export const shown = (text: string, max: number): string => visible(bounded(text, max));
