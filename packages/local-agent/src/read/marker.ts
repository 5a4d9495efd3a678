/**
 * The first line of every page that the agent writes. A page without `MARKER` belongs to the user and is never changed.
 */
export const MARKER =
  "<!-- Written by Tutti's local agent from the code. The next run replaces this page; remove this line to keep your edits. -->";

export function isGeneratedPage(text: string | null): boolean {
  return text !== null && (text === MARKER || text.startsWith(`${MARKER}\n`));
}
