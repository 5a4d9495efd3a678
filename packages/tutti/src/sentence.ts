// Sentences for users have their varying parts in `{name}` placeholders, so that the dashboard can look them up in the
// catalogue of its language. A test requires a French text for every literal that is passed to `sentence` or to a `Say`.

/** Returns the text with its `values` filled in. Without `values` the text is one of the log, and stays as it is. */
export type Say = (text: string, values?: Readonly<Record<string, string | number>>) => string;

/** In English. */
export const sentence: Say = (text, values) =>
  values === undefined ? text : text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
