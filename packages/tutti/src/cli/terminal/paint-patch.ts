import type { Colour, Paint } from "./board.ts";

const COLOURS: readonly [start: RegExp, colour: Colour][] = [
  [/^(?:diff|index|---|\+\+\+|new file|deleted file|old mode|new mode|similarity|rename) /, "bold"],
  [/^@@/, "cyan"],
  [/^\+/, "green"],
  [/^-/, "red"],
];

/** `showControls` uses caret notation, as in `^[`: agents wrote the lines, and they must not move the cursor. */
export const paintPatch = (patch: string, paint: Paint): string =>
  patch
    .split("\n")
    .map((line) => {
      const [, colour] = COLOURS.find(([start]) => start.test(line)) ?? [];
      return colour ? paint(colour, showControls(line)) : showControls(line);
    })
    .join("\n");

const showControls = (line: string): string =>
  line.replaceAll(/[^\P{Cc}\t]|[\u2028-\u202e\u2066-\u2069]/gu, (sign) => {
    const code = sign.codePointAt(0)!;
    return code < 0x80 ? `^${String.fromCodePoint(code ^ 0x40)}` : "\u{FFFD}";
  });
