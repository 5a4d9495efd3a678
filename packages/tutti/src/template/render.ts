// From a prompt with placeholders to the text that is sent.

/** One pass: what a variable brings in is never looked at for further placeholders. An unknown name is left as it stands. */
export function substituteVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([A-Z_][A-Z0-9_]*)\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? variables[name]! : whole,
  );
}
