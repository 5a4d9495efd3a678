// Puts what a delivery says into words that the person has written: `{PAYLOAD}` for the whole, `{PAYLOAD.issue.title}` for a
// part. Only the words of prompts are filled, never a command, and what is filled in is not looked at again.

const PLACE = /\{PAYLOAD((?:\.[A-Za-z0-9_-]+)*)\}/g;
/** Agents read it word by word; nobody means them to read more than this of one value. */
const MAX_CHARACTERS = 20_000;

export function fillPayload(text: string, payload: unknown): string {
  return text.replaceAll(PLACE, (_, path: string) => {
    const value = textOf(partOf(payload, path.split(".").slice(1)));
    return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}… (cut)` : value;
  });
}

function partOf(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, first);
  return isThere ? partOf((value as Record<string, unknown>)[first], rest) : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
