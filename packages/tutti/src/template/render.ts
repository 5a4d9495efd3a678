const PLACEHOLDER = /\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * `substituteVariables` makes a single pass, so the value of a variable is never scanned for placeholders. An unknown
 * name stays unchanged, because prompts contain JSON and code. A known name without a value becomes empty. A function
 * is called only if the text uses its name.
 */
export function substituteVariables(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(variables, name) ? variableText(variables[name]) : whole,
  );
}

/** `findPlaceholders` returns each name once, in order of first use. */
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
