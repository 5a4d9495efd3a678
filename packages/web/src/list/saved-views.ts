import { useSyncExternalStore } from "react";
import type { RunFilter } from "../shell/page-route.ts";

interface SavedView {
  name: string;
  filter: RunFilter;
}

const KEY = "tutti-views";
const listeners = new Set<() => void>();
let views: readonly SavedView[] | null = null;

function load(): readonly SavedView[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as SavedView[];
  } catch {
    return [];
  }
}

const savedViews = (): readonly SavedView[] => (views ??= load());

function save(next: readonly SavedView[]): void {
  views = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without `localStorage` the views last until the page is closed.
  }
  for (const listener of listeners) listener();
}

export const saveView = (view: SavedView): void =>
  save([...savedViews().filter(({ name }) => name !== view.name), view]);

export const forgetView = (name: string): void => save(savedViews().filter((view) => view.name !== name));

export const useSavedViews = (): readonly SavedView[] =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, savedViews);
