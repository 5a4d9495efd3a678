// Addresses: `/` is the list, `/runs/ID` is one run, `?session=TASK` beside it is an open transcript. Task names stand
// in the query because they may hold a dot, and a path with a dot looks like a file.
import { useSyncExternalStore } from "react";

export type Route =
  | { view: "list" }
  | { view: "run"; id: string; session: string | null }
  | { view: "unknown"; path: string };

export const LIST = "/";
export const runAddress = (id: string, session: string | null = null): string =>
  `/runs/${encodeURIComponent(id)}${session === null ? "" : `?session=${encodeURIComponent(session)}`}`;

export function readRoute(address: string): Route {
  const { pathname, searchParams } = new URL(address, "http://page");
  if (pathname === "/" || pathname === "/index.html") return { view: "list" };
  const id = /^\/runs\/([A-Za-z0-9_]+)\/?$/.exec(pathname)?.[1];
  return id ? { view: "run", id, session: searchParams.get("session") } : { view: "unknown", path: pathname };
}

/**
 * A printed address may name a run behind the `#`, which outlives the redirect that takes the token away:
 * `/?token=T#/runs/ID`.
 */
export function takeAddressFromHash(): void {
  const address = location.hash.slice(1);
  if (readRoute(address).view === "run") history.replaceState(null, "", address);
}

const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

export function go(address: string): void {
  history.pushState(null, "", address);
  tell();
}

export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  return readRoute(address);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("popstate", tell);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("popstate", tell);
  };
}
