import { useSyncExternalStore } from "react";

const query = matchMedia("(min-width: 1200px)");

/** Whether two panels of a card fit beside each other. */
export function useIsWide(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}
