/** Replaces `{NAME}` in every string of `value`. A name without a variable stays as it is. */
export function fill<T>(value: T, variables: Record<string, string>): T {
  if (typeof value === "string")
    return value.replaceAll(/\{([A-Z_][A-Z0-9_]*)\}/g, (whole, name: string) => variables[name] ?? whole) as T;
  if (Array.isArray(value)) return value.map((each: unknown) => fill(each, variables)) as T;
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [fill(key, variables), fill(each as unknown, variables)]),
    ) as T;
  }
  return value;
}

/** `blockText` is between the delimiters of the prompt, as an agent writes it. */
export function blockText(block: object, variables: Record<string, string>): string {
  const start = variables["DELIMITER_START"] ?? "<<<ORCHESTRATOR_RESPONSE>>>";
  const stop = variables["DELIMITER_END"] ?? "<<<END_ORCHESTRATOR_RESPONSE>>>";
  return `${start}\n${JSON.stringify(block, null, 2)}\n${stop}`;
}
