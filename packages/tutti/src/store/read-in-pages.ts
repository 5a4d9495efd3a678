import type { EventQuery } from "./store.ts";

const PAGE_BYTES = 256 * 1024;

/** Reads ascending events lazily, so that a log of any size costs the memory of `PAGE_BYTES`. */
export function* readInPages<T extends { seq: number }>(
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
    bytes += size;
  }
}
