const PLACEHOLDER = /\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * Makes a single pass, so the value of a variable is never scanned for placeholders. An unknown
 * name stays unchanged, because prompts contain JSON and code. A known name without a value becomes empty. A function
 * is called only if the text uses its name.
 */
export function substituteVariables(text: string, variables: Readonly<Record<string, unknown>>): string {
  const parts = partsOf(text);
  let rendered = parts[0]!;
  for (let i = 1; i < parts.length; i += 2) {
    const name = parts[i]!;
    rendered += Object.hasOwn(variables, name) ? variableText(variables[name]) : `{${name}}`;
    rendered += parts[i + 1]!;
  }
  return rendered;
}

/** The text around the placeholders, with their names in between. */
function partsOf(text: string): readonly string[] {
  const known = knownParts.get(text);
  if (known) return known;
  const parts = text.split(PLACEHOLDER);
  if (knownParts.size === MAX_KNOWN_PARTS) knownParts.clear();
  if (text.length <= MAX_KNOWN_LENGTH) knownParts.set(text, parts);
  return parts;
}

/** All tasks of a run have the same prompts. */
const knownParts = new Map<string, readonly string[]>();
const MAX_KNOWN_PARTS = 32;
const MAX_KNOWN_LENGTH = 64 * 1024;

/** Returns each name once, in order of first use. */
export function findPlaceholders(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name]) => name!))];
}

function variableText(value: unknown): string {
  if (typeof value === "function") return variableText(value());
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  return `${value as string | number | bigint}`;
}
