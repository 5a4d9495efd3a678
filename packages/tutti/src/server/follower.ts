// One client on its way through the log: first it reads what is stored, page by page and at its own pace, then it is fed.
//
// Invariants
// 1. `#cursor` is the last `seq` it has looked at; nothing at or before it is sent again.
// 2. It goes from reading to being fed in the step that finds the log read to its end, so nothing falls in between.
// 3. It never holds more than one page, or MAX_BUFFERED_BYTES and one hand-out, that its client has not taken. A client
//    that takes nothing is cut off, and can come back with the last `seq` it saw.
import { setImmediate as nextTurn } from "node:timers/promises";
import { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { Engine } from "../engine/engine.ts";
import type { StoredEvent } from "../schema/event.ts";

/** What of the engine the live events need. */
export type EventLog = Pick<Engine, "events" | "lastSeq" | "subscribe">;

export interface Wanted {
  /** The last `seq` the client has seen; null begins now. */
  after: number | null;
  run: string | null;
  types: ReadonlySet<string> | null;
}

const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const PAGE = 64;
/** How long a client may take for one page of what is stored. */
const STALLED_AFTER_MS = 20_000;

export class Follower {
  readonly #log: EventLog;
  readonly #outlet: Outlet;
  readonly #wanted: Wanted;
  /** The runs that were subscribed to; null as long as no message has narrowed it. */
  #subscribed: Set<string> | null = null;
  #cursor: number;
  #live = false;
  #gone = false;
  /** Whether it was cut off because its client did not read. */
  wasCut = false;

  constructor(log: EventLog, outlet: Outlet, wanted: Wanted) {
    this.#log = log;
    this.#outlet = outlet;
    this.#wanted = wanted;
    this.#cursor = wanted.after ?? log.lastSeq();
    void outlet.closed.then(() => (this.#gone = true));
  }

  subscribe(run: string): void {
    (this.#subscribed ??= new Set()).add(run);
  }

  unsubscribe(run: string): void {
    this.#subscribed?.delete(run);
  }

  async catchUp(): Promise<void> {
    try {
      while (!this.#gone && !this.#live) {
        const page = this.#readPage();
        this.#send(new Batch(page));
        if (page.length < PAGE) this.#live = true;
        else if (!(await this.#pageTaken())) this.#cut();
      }
    } catch {
      // The log cannot be read, so there is nothing true to say any more.
      this.#cut();
    }
  }

  /** Takes what has just been stored; while it still reads, it will find that in the log by itself. */
  offer(batch: Batch): void {
    if (!this.#live || this.#gone) return;
    if (this.#outlet.buffered() > MAX_BUFFERED_BYTES) this.#cut();
    else this.#send(batch);
  }

  beat(): void {
    this.#outlet.beat();
  }

  end(): void {
    this.#gone = true;
    this.#outlet.end();
  }

  #cut(): void {
    this.#gone = true;
    this.wasCut = true;
    this.#outlet.cut();
  }

  #readPage(): StoredEvent[] {
    const { run } = this.#wanted;
    return this.#log.events({ ...(run === null ? {} : { run }), after: this.#cursor, limit: PAGE });
  }

  /** Whoever wants all of it gets what was made for everybody. */
  #send(batch: Batch): void {
    const { events } = batch;
    const due = events.filter((event) => event.seq > this.#cursor && this.#wants(event));
    this.#cursor = Math.max(this.#cursor, events.at(-1)?.seq ?? 0);
    if (due.length > 0) this.#outlet.send(due.length === events.length ? batch : new Batch(due));
  }

  #wants({ run, type }: StoredEvent): boolean {
    const { run: only, types } = this.#wanted;
    if (only !== null && run !== only) return false;
    if (types !== null && !types.has(type)) return false;
    return this.#subscribed === null || (run !== null && this.#subscribed.has(run));
  }

  /** Also gives way to everybody else between two pages. */
  async #pageTaken(): Promise<boolean> {
    const stalled = Promise.withResolvers<false>();
    const timer = setTimeout(() => stalled.resolve(false), STALLED_AFTER_MS);
    const taken = this.#outlet.taken().then(() => true);
    const closed = this.#outlet.closed.then(() => true);
    const [inTime] = await Promise.all([Promise.race([taken, closed, stalled.promise]), nextTurn()]);
    clearTimeout(timer);
    return inTime;
  }
}
