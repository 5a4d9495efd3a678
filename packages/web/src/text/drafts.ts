// `keepDraft` stores unsent answers of the user, by inbox item. A draft survives a reload. It also survives the end of
// its item, and the page then shows it as not sent.
import { useSyncExternalStore } from "react";

interface UnsentDraft {
  item: string;
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
  const others = drafts.filter(({ item }) => item !== draft.item);
  save(draft.text === "" ? others : [...others, draft]);
}

export const forgetDraft = (item: string): void => save(drafts.filter((each) => each.item !== item));

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useDrafts = (): readonly UnsentDraft[] => useSyncExternalStore(subscribe, () => drafts);

export const useDraftText = (item: string): string =>
  useSyncExternalStore(subscribe, () => drafts.find((each) => each.item === item)?.text ?? "");
