// `keepDraft` stores unsent answers of the user, by inbox item and `part`. A draft survives a reload. It also survives
// the end of its item, and the page then shows it as not sent.
import { useSyncExternalStore } from "react";

/** `edits` are those of the tasks of a plan, as JSON. The same item may have `words`, which request another plan. */
type DraftPart = "words" | "edits";

interface UnsentDraft {
  item: string;
  part: DraftPart;
  run: string;
  title: string;
  text: string;
}

const KEY = "tutti-drafts";
const listeners = new Set<() => void>();
let drafts: readonly UnsentDraft[] = load();

function load(): readonly UnsentDraft[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as UnsentDraft[];
  } catch {
    return [];
  }
}

function save(next: readonly UnsentDraft[]): void {
  drafts = next;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without `sessionStorage` drafts last until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function keepDraft(draft: UnsentDraft): void {
  const others = drafts.filter((each) => !isAbout(each, draft.item, draft.part));
  save(draft.text === "" ? others : [...others, draft]);
}

export const forgetDraft = (item: string, part: DraftPart = "words"): void =>
  save(drafts.filter((each) => !isAbout(each, item, part)));

/** The user may write a draft again while the server has not answered yet. */
export const hasDraft = (item: string, part: DraftPart = "words"): boolean =>
  drafts.some((each) => isAbout(each, item, part));

const isAbout = (draft: UnsentDraft, item: string, part: DraftPart): boolean =>
  draft.item === item && draft.part === part;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useDrafts = (): readonly UnsentDraft[] => useSyncExternalStore(subscribe, () => drafts);

export const useDraftText = (item: string, part: DraftPart = "words"): string =>
  useSyncExternalStore(subscribe, () => drafts.find((each) => isAbout(each, item, part))?.text ?? "");
