// One client of the live events. It first reads the stored events page by page at its own pace, then receives new ones.
//
// Invariants
// 1. `#cursor` is the last `seq` that was processed; nothing at or before it is sent again. With `tail`, `#rewind` moves
//    `#cursor` back before the first event is sent.
// 2. `#state` becomes "live" in the same synchronous step that finds no further event in the log, so no event falls in
//    between.
// 3. Back-pressure: a follower buffers at most `MAX_BUFFERED_BYTES` and one page. A live follower beyond that reads the log
//    again, so a slow client gets every event at its own pace.
// 4. A client that takes nothing for `STALLED_AFTER_MS`, or between two heartbeats, is cut off. It can reconnect with the
//    last `seq` it received.
import { setImmediate as nextTurn } from "node:timers/promises";
import { PAGE_BYTES, PAGE_EVENTS, type EventPages } from "./event-pages.ts";
import { Batch, type EncodedFrame } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { Hide } from "../access/hide.ts";
import type { Engine } from "../../engine/engine.ts";

export type EventLog = Pick<Engine, "rawEvents" | "lastSeq" | "subscribe">;

export interface FeedRequest {
  /** The last `seq` that the client received; null starts with new events. */
  after: number | null;
  /** Number of matching past events to send first. Only valid if `after` is null. */
  tail?: number | undefined;
  run: string | null;
  /** The process id of a command that follows through a Unix socket. */
  process?: string | undefined;
  types: ReadonlySet<string> | null;
  /** Applies to stored events. New events contain no secrets. */
  hide?: Hide | null;
}

interface FollowerOptions {
  log: EventLog;
  pages: EventPages;
  outlet: Outlet;
  wanted: FeedRequest;
  /** `sent` is called after each page. */
  sent: (bytes: number) => void;
}

const MAX_BUFFERED_BYTES = PAGE_BYTES;
/** A client must read one page of stored events within `STALLED_AFTER_MS`. */
const STALLED_AFTER_MS = 20_000;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #outlet: Outlet;
  readonly #wanted: FeedRequest;
  /** Runs from `subscribe` messages; null, and thus every run, until the first message. */
  #subscribed: Set<string> | null = null;
  #cursor: number;
  #state: "catching-up" | "live" | "closed" = "catching-up";
  /** When the client last took everything that was sent, by `performance.now`. */
  progressAt = performance.now();
  #sends = 0;
  #taken = 0;
  /** `#taken` at the last heartbeat; null if the client had taken every write. */
  #takenAtBeat: number | null = null;
  /** `wasCut` means that the server dropped the client: it did not read, or the log could not be read. */
  wasCut = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#outlet = options.outlet;
    this.#wanted = options.wanted;
    this.#cursor = options.wanted.after ?? options.log.lastSeq();
    void this.#outlet.closed.then(() => (this.#state = "closed"));
  }

  subscribe(run: string): void {
    (this.#subscribed ??= new Set()).add(run);
  }

  unsubscribe(run: string): void {
    this.#subscribed?.delete(run);
  }

  get subscriptions(): number {
    return this.#subscribed?.size ?? 0;
  }

  get wanted(): Pick<FeedRequest, "run" | "process"> {
    return this.#wanted;
  }

  get bufferedBytes(): number {
    return this.#outlet.buffered();
  }

  async catchUp(): Promise<void> {
    try {
      const { tail = 0 } = this.#wanted;
      if (tail > 0) await this.#rewind(tail);
      await this.#readLog();
    } catch {
      // The log cannot be read. The client can reconnect later without missing an event.
      this.cut();
    }
  }

  /** Sends a batch of new events. Ignored unless live: `#readLog` finds these events in the log. */
  offer(batch: Batch): void {
    if (this.#state !== "live") return;
    if (this.#outlet.buffered() > MAX_BUFFERED_BYTES) void this.#fallBehind();
    else this.#send(batch);
  }

  beat(): void {
    const isWaiting = this.#outlet.buffered() > 0;
    if (!isWaiting) this.#outlet.beat();
    else if (this.#taken === this.#takenAtBeat) this.cut();
    this.#takenAtBeat = isWaiting ? this.#taken : null;
  }

  end(): void {
    this.#state = "closed";
    this.#outlet.end();
  }

  cut(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.wasCut = true;
    this.#outlet.cut();
  }

  /** Returns to `#readLog` once the client has taken what is buffered. */
  async #fallBehind(): Promise<void> {
    this.#state = "catching-up";
    try {
      if (await this.#pageDelivered()) await this.#readLog();
      else this.cut();
    } catch {
      this.cut();
    }
  }

  async #readLog(): Promise<void> {
    for (;;) {
      await this.#options.pages.turn();
      if (this.#state !== "catching-up" || !this.#sendPage()) return;
      if (!(await this.#pageDelivered())) return this.cut();
    }
  }

  /** False at the end of the log. With an `await` in the same function, `page` would stay in memory. */
  #sendPage(): boolean {
    const { run, hide } = this.#wanted;
    const page = this.#options.pages.read(run, this.#cursor, hide);
    if (page.frames.length > 0) this.#options.sent(this.#send(page));
    else this.#state = "live";
    return page.frames.length > 0;
  }

  /** Moves `#cursor` back, page by page, until it is before `tail` matching events. */
  async #rewind(tail: number): Promise<void> {
    const { log } = this.#options;
    const { run } = this.#wanted;
    let missing = tail;
    let endSeq = this.#cursor + 1;
    while (missing > 0 && endSeq > 1 && this.#state !== "closed") {
      const limits = { before: endSeq, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES };
      const page = log.rawEvents(run === null ? limits : { ...limits, run });
      const found = page.filter((event) => this.#matches(event)).slice(-missing);
      missing -= found.length;
      // Stop at the first match once all are found; otherwise continue in front of this page.
      endSeq = missing === 0 ? found[0]!.seq : (page[0]?.seq ?? 1);
      this.#cursor = endSeq - 1;
      if (missing > 0) await nextTurn();
    }
  }

  /** Reuses `batch`, and so its cached encodings, if the client wants all its events. Returns the bytes sent. */
  #send(batch: Batch): number {
    const { frames } = batch;
    const due = frames.filter((frame) => frame.seq > this.#cursor && this.#wants(frame));
    this.#cursor = Math.max(this.#cursor, frames.at(-1)?.seq ?? 0);
    if (due.length === 0) return 0;
    const bytes = this.#outlet.send(due.length === frames.length ? batch : new Batch(due));
    const send = ++this.#sends;
    void this.#outlet.taken().then(() => {
      this.#taken = Math.max(this.#taken, send);
      this.progressAt = performance.now();
    });
    return bytes;
  }

  #wants(frame: EncodedFrame): boolean {
    const { run } = frame;
    return this.#matches(frame) && (this.#subscribed === null || (run !== null && this.#subscribed.has(run)));
  }

  #matches({ run, type }: { run: string | null; type: string }): boolean {
    const { run: only, types } = this.#wanted;
    return (only === null || run === only) && (types === null || types.has(type));
  }

  /** `#pageDelivered` is false if the client read too slowly. It always yields to the event loop between two pages. */
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
