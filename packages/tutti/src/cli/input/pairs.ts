import { TuttiError } from "../../schema/error.ts";

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function readPairs(flag: string, texts: readonly string[], pattern = VARIABLE_NAME): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      const name = text.slice(0, at);
      if (at < 1 || !pattern.test(name))
        throw new TuttiError("usage", `"${text}" is not a valid value of ${flag}. Use the form NAME=value.`);
      return [name, text.slice(at + 1)];
    }),
  );
}
