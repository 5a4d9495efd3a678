// `EventPages` reads stored events for followers. Followers that read the same part of the log at about the same time
// share one page and its encodings, so 200 clients that connect together cost the memory of one.
import type { EventLog } from "./follower.ts";
import { Batch, encodeRaw } from "./frame.ts";
import type { Hide } from "../access/hide.ts";
import { ReadPace } from "../read-pace.ts";

export const PAGE_EVENTS = 64;
/** A page ends with the event that reaches `PAGE_BYTES`. */
export const PAGE_BYTES = 256 * 1024;

const MAX_CACHED = 4;
/** `CACHED_MS` is short, because the events of a cached page may be removed from the log meanwhile. */
const CACHED_MS = 2000;

export class EventPages {
  readonly #log: EventLog;
  readonly #cached = new Map<string, { page: Batch; expiry: NodeJS.Timeout }>();
  readonly #pace = new ReadPace();

  constructor(log: EventLog) {
    this.#log = log;
  }

  turn(): Promise<void> {
    return this.#pace.turn();
  }

  /** Returns the events after `after`, of one run or of all. Only the page at the end of the log is empty. */
  read(run: string | null, after: number, hide: Hide | null = null): Batch {
    const key = `${run ?? ""} ${after} ${hide !== null}`;
    const cached = this.#cached.get(key);
    if (cached) return cached.page;
    const limits = { after, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES };
    const events = this.#log.rawEvents(run === null ? limits : { ...limits, run });
    const page = new Batch(events.map((event) => encodeRaw(event, hide)));
    for (const { text } of page.frames) this.#pace.count(text.length);
    if (page.frames.length > 0) this.#keep(key, page);
    return page;
  }

  #keep(key: string, page: Batch): void {
    if (this.#cached.size >= MAX_CACHED) this.#remove(this.#cached.keys().next().value!);
    this.#cached.set(key, { page, expiry: setTimeout(() => this.#remove(key), CACHED_MS).unref() });
  }

  #remove(key: string): void {
    clearTimeout(this.#cached.get(key)?.expiry);
    this.#cached.delete(key);
  }
}
