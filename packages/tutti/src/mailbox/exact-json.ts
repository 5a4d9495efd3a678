// Reading JSON in order to write it again. A number with more digits than a number can hold, such as an id of another
// program, would come back changed; here it comes back as it was.

/** What newer versions of the language have and its types do not know yet. */
const json = JSON as typeof JSON & { rawJSON(text: string): object };

/** The value of a JSON text, for JSON.stringify. Only numbers that would change are not numbers in it. */
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
