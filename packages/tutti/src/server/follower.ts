// One client on its way through the log: first it reads what is stored, page by page and at its own pace, then it is fed.
//
// Invariants
// 1. `#cursor` is the last `seq` it has looked at; nothing at or before it is sent again.
//    One who begins with the last events goes back to the first of them before anything is sent.
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
  /** How many of the last events that match come first; only for one who begins now. */
  tail?: number | undefined;
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
      const { tail = 0 } = this.#wanted;
      if (tail > 0) await this.#goBack(tail);
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

  /** Page by page from the end of the log, until so many are behind it as its client wants to begin with. */
  async #goBack(tail: number): Promise<void> {
    let missing = tail;
    let before = this.#cursor + 1;
    while (missing > 0 && before > 1 && !this.#gone) {
      const page = this.#log.events({ ...this.#ofRun(), before, limit: PAGE });
      const found = page.filter((event) => this.#matches(event)).slice(-missing);
      missing -= found.length;
      // Once all are found nothing before the first of them is of interest; until then, whatever comes before the page.
      before = missing === 0 ? found[0]!.seq : page.length < PAGE ? 1 : page[0]!.seq;
      this.#cursor = before - 1;
      if (missing > 0) await nextTurn();
    }
  }

  #readPage(): StoredEvent[] {
    return this.#log.events({ ...this.#ofRun(), after: this.#cursor, limit: PAGE });
  }

  #ofRun(): { run?: string } {
    const { run } = this.#wanted;
    return run === null ? {} : { run };
  }

  /** Whoever wants all of it gets what was made for everybody. */
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
