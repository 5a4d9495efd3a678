import { TuttiError } from "../schema/error.ts";

/** Splits like a POSIX shell, but without expansion. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) throw unclosed(text);
      word = (word ?? "") + text.slice(i + 1, end);
      i = end;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, i + 1);
      word = (word ?? "") + quoted.value;
      i = quoted.end;
    } else if (char === "\\") {
      if (i + 1 >= text.length) throw unclosed(text);
      word = (word ?? "") + text[++i];
    } else if (char === " " || char === "\t" || char === "\n") {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + char;
    }
  }
  return word === null ? words : [...words, word];
}

/** Inside double quotes a backslash escapes only `"`, `\`, `$` and a backtick. */
function readDoubleQuoted(text: string, from: number): { value: string; end: number } {
  let value = "";
  for (let i = from; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"') return { value, end: i };
    const escaped = char === "\\" && '"\\$`'.includes(text[i + 1] ?? " ");
    value += escaped ? text[++i] : char;
  }
  throw unclosed(text);
}

const unclosed = (text: string): TuttiError =>
  new TuttiError(
    "agent_unknown",
    `The command ${JSON.stringify(text)} has an unclosed quote or ends in a backslash. Correct it.`,
  );
