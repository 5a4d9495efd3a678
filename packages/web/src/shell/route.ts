// `navigate` and `replaceAddress` change the view without a reload. The address bar names the view, and the history
// leads back.
import { useSyncExternalStore } from "react";
import { readRoute, type PageRoute } from "./page-route.ts";

/**
 * Replaces a printed URL such as `/?token=T#/runs/ID` by the route after the `#`. The fragment survives the redirect
 * that removes the token.
 */
export function takeAddressFromHash(): void {
  const address = location.hash.slice(1);
  if (address.startsWith("/") && readRoute(address).view !== "unknown") history.replaceState(null, "", address);
}

const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

const here = (): string => location.pathname + location.search;

export function navigate(address: string): void {
  if (address === here()) return;
  history.pushState({ from: here() }, "", address);
  notify();
}

/** Call it before a request. The returned function navigates unless the user has left the page meanwhile. */
export function navigateAfter(): (address: string) => void {
  const { pathname } = location;
  return (address) => {
    if (location.pathname === pathname) navigate(address);
  };
}

/** Unlike `navigate`, for filters and selections that need no step back. */
export function replaceAddress(address: string): void {
  history.replaceState(history.state, "", address);
  notify();
}

let lastLeft: unknown;

/** Closes a panel. If `address` is the page before it, this goes back, so that Back does not open the panel again. */
export function leaveTo(address: string): void {
  const state = history.state as { from?: string } | null;
  if (state?.from !== address) return replaceAddress(address);
  // `back` takes effect later, and a second click must not go back twice.
  if (state === lastLeft) return;
  lastLeft = state;
  history.back();
}

export function useRoute(): PageRoute {
  return readRoute(useSyncExternalStore(subscribe, here));
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("popstate", notify);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("popstate", notify);
  };
}
