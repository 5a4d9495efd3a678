import { lazy, type FunctionComponent, type LazyExoticComponent } from "react";

const PROBE_MS = 1000;
const RELOADED_KEY = "tutti-reloaded-for-part ";

/**
 * Like `lazy`, for a part whose chunk may be requested while the server is away: it is loaded when the server is back.
 * `load` returns the component itself.
 */
export function lazyPart<P>(load: () => Promise<FunctionComponent<P>>): LazyExoticComponent<FunctionComponent<P>> {
  return lazy<FunctionComponent<P>>(async () => ({ default: await loadWithServer(load) }));
}

/** Without the server, the page is loaded again when it is back. The promise is then never resolved. */
export async function loadWithServer<T>(load: () => Promise<T>): Promise<T> {
  // The source of `load` has the path of its chunk.
  const key = `${RELOADED_KEY}${String(load)}`;
  try {
    const part = await load();
    sessionStorage.removeItem(key);
    return part;
  } catch (error) {
    await untilServerAnswers();
    // Browsers and the loader of styles remember what failed, and another version of the server has other chunks, so
    // only a new page is complete. Drafts and the address survive. A second failure of this part is no outage.
    if (sessionStorage.getItem(key) !== null) throw error;
    sessionStorage.setItem(key, "");
    location.reload();
    return new Promise<T>(() => {});
  }
}

async function untilServerAnswers(): Promise<void> {
  for (;;) {
    const isThere = await fetch("/api/health").then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  }
}
