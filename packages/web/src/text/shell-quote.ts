/** Makes `text` one word of a command line. */
export const shellQuote = (text: string): string =>
  /^[A-Za-z0-9_./~=:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
