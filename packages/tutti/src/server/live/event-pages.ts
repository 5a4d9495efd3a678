// Pages of stored events for followers. Followers that read the same part of the log at about the same time share one
// page and its encodings, so 200 clients that connect together cost the memory of one.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventLog } from "./follower.ts";
import { Batch, encodeRaw } from "./frame.ts";

export const PAGE_EVENTS = 64;
/** A page ends with the event that reaches this size. */
export const PAGE_BYTES = 256 * 1024;

const MAX_CACHED = 4;
/** Short, because the events of a cached page may be removed from the log meanwhile. */
const CACHED_MS = 2000;

export class EventPages {
  readonly #log: EventLog;
  readonly #cached = new Map<string, Batch>();
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Resolves in one turn of the event loop per caller, so that requests are answered between the pages of many clients. */
  turn(): Promise<void> {
    return (this.#lastTurn = this.#lastTurn.then(() => nextTurn()));
  }

  /** Returns the events after `after`, of one run or of all. Only the page at the end of the log is empty. */
  read(run: string | null, after: number): Batch {
    const key = `${run ?? ""} ${after}`;
    const cached = this.#cached.get(key);
    if (cached) return cached;
    const limits = { after, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES };
    const page = new Batch(this.#log.rawEvents(run === null ? limits : { ...limits, run }).map(encodeRaw));
    if (page.frames.length > 0) this.#keep(key, page);
    return page;
  }

  #keep(key: string, page: Batch): void {
    if (this.#cached.size >= MAX_CACHED) this.#cached.delete(this.#cached.keys().next().value!);
    this.#cached.set(key, page);
    setTimeout(() => this.#cached.get(key) === page && this.#cached.delete(key), CACHED_MS).unref();
  }
}
