// From a prompt with placeholders to the text that is sent.

const PLACEHOLDER = /\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * One pass: what a variable brings in is never looked at for further placeholders. A name that nobody knows is left as it
 * stands, because prompts hold JSON and code; a known one without a value becomes nothing. A value that is a function is
 * found only where the text names it.
 */
export function substituteVariables(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(variables, name) ? variableText(variables[name]) : whole,
  );
}

/** The names in the order of their first use, each once. */
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
