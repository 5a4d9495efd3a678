// One client of the live events. It first reads the stored events page by page at its own pace, then receives new ones.
//
// Invariants
// 1. `#cursor` is the last `seq` that was processed; nothing at or before it is sent again. With `tail`, `#rewind` moves
//    `#cursor` back before the first event is sent.
// 2. `#live` is set in the same synchronous step that reads the log to its end, so no event falls in between.
// 3. A follower buffers at most one unread page, or `MAX_BUFFERED_BYTES` plus one batch. A client that does not read is cut
//    off and can reconnect with the last `seq` it received.
import { setImmediate as nextTurn } from "node:timers/promises";
import { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { Engine } from "../../engine/engine.ts";
import type { StoredEvent } from "../../schema/event.ts";

export type EventLog = Pick<Engine, "events" | "lastSeq" | "subscribe">;

export interface FeedRequest {
  /** The last `seq` that the client received; null starts with new events. */
  after: number | null;
  /** Number of matching past events to send first. Only valid if `after` is null. */
  tail?: number | undefined;
  run: string | null;
  types: ReadonlySet<string> | null;
}

const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const PAGE = 64;
/** Time limit for a client to read one page of stored events. */
const STALLED_AFTER_MS = 20_000;

export class Follower {
  readonly #log: EventLog;
  readonly #outlet: Outlet;
  readonly #wanted: FeedRequest;
  /** Runs from `subscribe` messages; null, and thus every run, until the first message. */
  #subscribed: Set<string> | null = null;
  #cursor: number;
  #live = false;
  #closed = false;
  /** True if the server dropped the client, because it did not read or the log could not be read. */
  wasCut = false;

  constructor(log: EventLog, outlet: Outlet, wanted: FeedRequest) {
    this.#log = log;
    this.#outlet = outlet;
    this.#wanted = wanted;
    this.#cursor = wanted.after ?? log.lastSeq();
    void outlet.closed.then(() => (this.#closed = true));
  }

  subscribe(run: string): void {
    (this.#subscribed ??= new Set()).add(run);
  }

  unsubscribe(run: string): void {
    this.#subscribed?.delete(run);
  }

  async catchUp(): Promise<void> {
    try {
      const { tail = 0 } = this.#wanted;
      if (tail > 0) await this.#rewind(tail);
      while (!this.#closed && !this.#live) {
        const page = this.#readPage();
        this.#send(new Batch(page));
        if (page.length < PAGE) this.#live = true;
        else if (!(await this.#pageDelivered())) this.#cut();
      }
    } catch {
      // The log cannot be read. The client can reconnect later without missing an event.
      this.#cut();
    }
  }

  /** Sends a batch of new events. Ignored before `#live`: `catchUp` reads these events from the log. */
  offer(batch: Batch): void {
    if (!this.#live || this.#closed) return;
    if (this.#outlet.buffered() > MAX_BUFFERED_BYTES) this.#cut();
    else this.#send(batch);
  }

  beat(): void {
    this.#outlet.beat();
  }

  end(): void {
    this.#closed = true;
    this.#outlet.end();
  }

  #cut(): void {
    this.#closed = true;
    this.wasCut = true;
    this.#outlet.cut();
  }

  /** Moves `#cursor` back, page by page, until `tail` matching events lie after it. */
  async #rewind(tail: number): Promise<void> {
    let missing = tail;
    let endSeq = this.#cursor + 1;
    while (missing > 0 && endSeq > 1 && !this.#closed) {
      const page = this.#log.events({ ...this.#runFilter(), before: endSeq, limit: PAGE });
      const found = page.filter((event) => this.#matches(event)).slice(-missing);
      missing -= found.length;
      // Stop at the first match once all are found; otherwise continue in front of this page.
      endSeq = missing === 0 ? found[0]!.seq : page.length < PAGE ? 1 : page[0]!.seq;
      this.#cursor = endSeq - 1;
      if (missing > 0) await nextTurn();
    }
  }

  #readPage(): StoredEvent[] {
    return this.#log.events({ ...this.#runFilter(), after: this.#cursor, limit: PAGE });
  }

  #runFilter(): { run?: string } {
    const { run } = this.#wanted;
    return run === null ? {} : { run };
  }

  /** Reuses `batch`, and so its cached encodings, if the client wants all its events. */
  #send(batch: Batch): void {
    const { events } = batch;
    const due = events.filter((event) => event.seq > this.#cursor && this.#wants(event));
    this.#cursor = Math.max(this.#cursor, events.at(-1)?.seq ?? 0);
    if (due.length > 0) this.#outlet.send(due.length === events.length ? batch : new Batch(due));
  }

  #wants(event: StoredEvent): boolean {
    const { run } = event;
    return this.#matches(event) && (this.#subscribed === null || (run !== null && this.#subscribed.has(run)));
  }

  #matches({ run, type }: StoredEvent): boolean {
    const { run: only, types } = this.#wanted;
    return (only === null || run === only) && (types === null || types.has(type));
  }

  /** False if the client read too slowly. Always yields to the event loop between two pages. */
  async #pageDelivered(): Promise<boolean> {
    const stalled = Promise.withResolvers<false>();
    const timer = setTimeout(() => stalled.resolve(false), STALLED_AFTER_MS);
    const taken = this.#outlet.taken().then(() => true);
    const closed = this.#outlet.closed.then(() => true);
    const [inTime] = await Promise.all([Promise.race([taken, closed, stalled.promise]), nextTurn()]);
    clearTimeout(timer);
    return inTime;
  }
}
