// `fillPayload` fills placeholders in the user's prompts with the payload of a delivery: `{PAYLOAD}` is the whole
// payload and `{PAYLOAD.issue.title}` a part. Commands are never filled, and the inserted text is not expanded again.

const PLACEHOLDER = /\{PAYLOAD((?:\.[A-Za-z0-9_-]+)*)\}/g;
/** `MAX_CHARACTERS` limits one value, because the prompt goes to a model. */
const MAX_CHARACTERS = 20_000;

export function fillPayload(text: string, payload: unknown): string {
  return text.replaceAll(PLACEHOLDER, (_, path: string) => {
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
