// Routes: `/` is the list, `/runs/ID` is one run, and `?session=TASK` opens a transcript in it. The task is in the query
// because its name may contain a dot, and a path with a dot looks like a file.
import { useSyncExternalStore } from "react";

export type PageRoute =
  | { view: "list" }
  | { view: "run"; id: string; session: string | null }
  | { view: "unknown"; path: string };

export const LIST = "/";
export const runAddress = (id: string, session: string | null = null): string =>
  `/runs/${encodeURIComponent(id)}${session === null ? "" : `?session=${encodeURIComponent(session)}`}`;

export function readRoute(address: string): PageRoute {
  const { pathname, searchParams } = new URL(address, "http://page");
  if (pathname === "/" || pathname === "/index.html") return { view: "list" };
  const id = /^\/runs\/([A-Za-z0-9_]+)\/?$/.exec(pathname)?.[1];
  return id ? { view: "run", id, session: searchParams.get("session") } : { view: "unknown", path: pathname };
}

/**
 * Replaces a printed URL such as `/?token=T#/runs/ID` by the route after the `#`. The fragment survives the redirect that
 * removes the token.
 */
export function takeAddressFromHash(): void {
  const address = location.hash.slice(1);
  if (readRoute(address).view === "run") history.replaceState(null, "", address);
}

const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

export function navigate(address: string): void {
  history.pushState(null, "", address);
  notify();
}

export function useRoute(): PageRoute {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  return readRoute(address);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("popstate", notify);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("popstate", notify);
  };
}
