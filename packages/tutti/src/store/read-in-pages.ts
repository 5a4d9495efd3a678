import type { EventQuery } from "./store.ts";

const PAGE_BYTES = 256 * 1024;

/** Reads ascending events lazily, so that a log of any size costs the memory of `PAGE_BYTES`. */
export function* readInPages<T extends { seq: number; data: unknown }>(
  read: (query: EventQuery) => T[],
  query: Omit<EventQuery, "before">,
): Generator<T> {
  let { after = 0, limit = Number.POSITIVE_INFINITY } = query;
  const { maxBytes = Number.POSITIVE_INFINITY } = query;
  let bytes = 0;
  while (limit > 0 && bytes < maxBytes) {
    const size = Math.min(PAGE_BYTES, maxBytes - bytes);
    const page = read({ ...query, after, maxBytes: size, ...(Number.isFinite(limit) && { limit }) });
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)!.seq;
    limit -= page.length;
    // A page may end with an event that is much larger than the page.
    bytes += Math.max(size, ...page.map(({ data }) => (typeof data === "string" ? data.length : 0)));
  }
}
