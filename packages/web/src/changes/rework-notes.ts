// Comments on a result, which `reworkRequest` turns into the request of a follow-up run. They are kept in this tab.
import { useSyncExternalStore } from "react";

export interface LineNote {
  /** Has the form `path:line`. */
  place: string;
  code: string;
  text: string;
}

const keyOf = (run: string): string => `tutti-rework-${run}`;

const listeners = new Set<() => void>();
const kept = new Map<string, readonly LineNote[]>();

export function readNotes(run: string): readonly LineNote[] {
  const notes = kept.get(run) ?? load(run);
  kept.set(run, notes);
  return notes;
}

function load(run: string): LineNote[] {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(run)) ?? "[]") as LineNote[];
  } catch {
    return [];
  }
}

/** Several parts of the page may show the changes of one run, so all of them share its comments. */
export const useNotes = (run: string): readonly LineNote[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => readNotes(run),
  );

export function keepNotes(run: string, notes: readonly LineNote[]): void {
  kept.set(run, notes);
  for (const listener of listeners) listener();
  try {
    sessionStorage.setItem(keyOf(run), JSON.stringify(notes));
  } catch {
    // Without `sessionStorage` the comments last until the page is closed.
  }
}

export const describeNote = ({ place, code, text }: LineNote): string => `About ${place}:\n> ${code}\n${text}`;

/** Empty without `notes`. */
export const reworkRequest = (notes: readonly LineNote[]): string =>
  notes.length === 0 ? "" : ["Change these places of the result.", ...notes.map(describeNote)].join("\n\n");
