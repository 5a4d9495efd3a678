// Makes untrusted text safe to display. React escapes markup; this file handles bidi controls, control characters and
// excessive length.

const ESCAPE = String.fromCodePoint(27);
/** Colours and cursor movements. They have no meaning in a page, so they are removed. */
const TERMINAL_CODES = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, "g");
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes control and bidi characters as `\uXXXX`, so that they are visible and have no effect. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(TERMINAL_CODES, "")
    .replaceAll(INVISIBLE, (sign) => (sign === "\n" || sign === "\t" ? sign : escaped(sign)));
}

const escaped = (sign: string): string => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Truncates to `max` characters and marks the cut with an ellipsis. */
export function bounded(text: string, max: number): string {
  if (text.length <= max) return text;
  // Half of a surrogate pair at the end would render as a broken character.
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")} …`;
}

export const shown = (text: string, max: number): string => visible(bounded(text, max));
