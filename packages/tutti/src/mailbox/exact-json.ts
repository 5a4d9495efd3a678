// `parseExactly` parses JSON in order to write it again. `JSON.parse` would change numbers with too many digits, such
// as ids of other programs.

/** The TypeScript library does not declare `rawJSON` yet. */
const json = JSON as typeof JSON & { rawJSON(text: string): object };

/** Returns a value for `JSON.stringify`. Numbers that would lose digits are `rawJSON` objects. */
export function parseExactly(text: string): unknown {
  return /\d{16}/.test(text)
    ? JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  const { source } = context;
  return typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && /\d{16}/.test(source)
    ? json.rawJSON(source)
    : value;
}
