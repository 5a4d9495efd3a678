// Comments on a result, which `reworkRequest` turns into the request of a follow-up run. They are kept in this tab.
export interface LineNote {
  /** Has the form `path:line`. */
  place: string;
  code: string;
  text: string;
}

const keyOf = (run: string): string => `tutti-rework-${run}`;

export function readNotes(run: string): LineNote[] {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(run)) ?? "[]") as LineNote[];
  } catch {
    return [];
  }
}

export function keepNotes(run: string, notes: readonly LineNote[]): void {
  try {
    sessionStorage.setItem(keyOf(run), JSON.stringify(notes));
  } catch {
    // Without `sessionStorage` the comments last until the user leaves the page.
  }
}

export const describeNote = ({ place, code, text }: LineNote): string => `About ${place}:\n> ${code}\n${text}`;

/** Empty without `notes`. */
export const reworkRequest = (notes: readonly LineNote[]): string =>
  notes.length === 0 ? "" : ["Change these places of the result.", ...notes.map(describeNote)].join("\n\n");
