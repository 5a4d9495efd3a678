const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const NONE = /\p{M}|[\u200b-\u200d]/u;

const widthOf = (sign: string): number => {
  if (NONE.test(sign)) return 0;
  return WIDE.test(sign) || /\p{Emoji_Presentation}/u.test(sign) || sign.codePointAt(0)! >= 0x20000 ? 2 : 1;
};

/** Columns that `text` takes on a terminal. An approximation, because terminals differ. */
export const textWidth = (text: string): number => {
  let width = 0;
  for (const sign of text) width += widthOf(sign);
  return width;
};

/** Truncates `text` to `columns`, with an ellipsis at the end. */
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
