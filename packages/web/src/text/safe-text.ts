// React escapes markup; `shown` handles invisible characters, terminal codes and excessive length of untrusted text.

const ESCAPE = String.fromCodePoint(27);
/** Colours and cursor movements have no meaning in a page, so `TERMINAL_CODES` are removed. */
const TERMINAL_CODES = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^${ESCAPE}\\u0007]*(?:\\u0007|${ESCAPE}\\\\))`,
  "g",
);
const JOINING_SCRIPTS =
  "Arabic Syriac Mongolian Devanagari Bengali Gurmukhi Gujarati Tamil Telugu Kannada Malayalam Sinhala".split(" ");
const JOINING = JOINING_SCRIPTS.map((name) => `\\p{Script=${name}}`).join("");
/**
 * The joiners in the group are drawn between emoji or letters of `JOINING` scripts. All other format characters are
 * invisible.
 */
const INVISIBLE = new RegExp(
  [
    String.raw`((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
    String.raw`|(?<=[${JOINING}])[\u200c\u200d](?=[${JOINING}]))`,
    String.raw`|[\p{Cc}\p{Cf}\p{Bidi_Control}\u115f\u1160\u3164\uffa0]`,
  ].join(""),
  "gu",
);

/** Escapes control, bidi and `INVISIBLE` characters as `\uXXXX`, so that they are visible and have no effect. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(TERMINAL_CODES, "")
    .replaceAll(INVISIBLE, (sign, joiner?: string) =>
      sign === "\n" || sign === "\t" || joiner !== undefined ? sign : escaped(sign),
    );
}

const escaped = (sign: string): string => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, "0")}`;

export function bounded(text: string, max: number): string {
  if (text.length <= max) return text;
  // Half of a surrogate pair at the end would render as a broken character.
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")} …`;
}

export const shown = (text: string, max: number): string => visible(bounded(text, max));
