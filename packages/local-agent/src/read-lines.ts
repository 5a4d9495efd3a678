import type { Readable } from "node:stream";

/** Unlike `node:readline`, splits at line feeds only: JSON may contain the other line separators of Unicode. */
export async function* readLines(input: Readable): AsyncGenerator<string> {
  input.setEncoding("utf8");
  /** Parts of the unfinished line, joined only at its end: extending one string would copy a long line repeatedly. */
  let parts: string[] = [];
  for await (const chunk of input) {
    const [rest, ...starts] = String(chunk).split("\n");
    parts.push(rest!);
    for (const start of starts) {
      yield parts.join("");
      parts = [start];
    }
  }
  const last = parts.join("");
  if (last !== "") yield last;
}
