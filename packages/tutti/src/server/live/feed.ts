// Publishes the engine's events to all followers in log order.
//
// Invariants
// 1. Followers receive exactly the log: each `seq` once, in order, without gaps. The engine publishes run by run, so an
//    event may arrive before its predecessor; then `#inOrder` reads the log instead.
// 2. A slow follower does not delay the others: `Feed` never waits for one, and each buffers a bounded amount (follower.ts).
// 3. All followers together buffer at most `MAX_TOTAL_BYTES` and one batch. Beyond that, `#makeRoom` cuts off those that
//    have read nothing for the longest time.
import { EventPages, PAGE_BYTES } from "./event-pages.ts";
import { Follower, type EventLog, type FeedRequest } from "./follower.ts";
import { Batch, encodeFrame, encodeRaw, type EncodedFrame } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { StoredEvent } from "../../schema/event.ts";

const HEARTBEAT_MS = 15_000;
const MAX_TOTAL_BYTES = 48 * 1024 * 1024;
/** `#makeRoom` asks every follower, so it runs only after this many bytes of pages. */
const CHECK_EVERY_BYTES = 8 * 1024 * 1024;

export class Feed {
  readonly #log: EventLog;
  readonly #pages: EventPages;
  readonly #followers = new Set<Follower>();
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: StoredEvent[] = [];
  #immediate: NodeJS.Immediate | null = null;
  #lastSeq: number;
  #cutOff = 0;
  #bytesSinceCheck = 0;

  constructor(log: EventLog) {
    this.#log = log;
    this.#pages = new EventPages(log);
    this.#lastSeq = log.lastSeq();
    this.#unsubscribe = log.subscribe((event) => this.#enqueue(event));
    this.#heartbeat = setInterval(() => {
      for (const follower of this.#followers) follower.beat();
    }, HEARTBEAT_MS).unref();
  }

  follow(outlet: Outlet, wanted: FeedRequest): Follower {
    const [log, pages] = [this.#log, this.#pages];
    const follower = new Follower({ log, pages, outlet, wanted, sent: (bytes) => this.#count(bytes) });
    this.#followers.add(follower);
    void outlet.closed.then(() => {
      this.#followers.delete(follower);
      if (follower.wasCut) this.#cutOff += 1;
    });
    void follower.catchUp();
    return follower;
  }

  /** `clients` are connected now; `cutOff` counts those that were dropped since the start. */
  get numbers(): { clients: number; cutOff: number } {
    return { clients: this.#followers.size, cutOff: this.#cutOff };
  }

  /** A command that took over the engine follows its run through itself, so `followedRuns` skips this process. */
  get followedRuns(): Set<string> {
    const others = Array.from(this.#followers, ({ wanted }) => wanted).filter(
      (wanted) => wanted.process !== String(process.pid),
    );
    return new Set(others.flatMap(({ run }) => run ?? []));
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    if (this.#immediate) clearImmediate(this.#immediate);
    for (const follower of this.#followers) follower.end();
  }

  /** Batches the events of one turn of the event loop into a single write per `Follower`. */
  #enqueue(event: StoredEvent): void {
    this.#pending.push(event);
    this.#immediate ??= setImmediate(() => this.#publish());
  }

  #publish(): void {
    this.#immediate = null;
    let frames: EncodedFrame[];
    try {
      frames = this.#inOrder();
    } catch {
      // The log cannot be read, so the next event is unknown. Clients reconnect and continue after their last `seq`.
      for (const follower of this.#followers) follower.end();
      return;
    }
    if (frames.length === 0) return;
    this.#lastSeq = frames.at(-1)!.seq;
    const batch = new Batch(frames);
    for (const follower of this.#followers) follower.offer(batch);
    this.#makeRoom();
    if (this.#pending.length > 0) this.#immediate ??= setImmediate(() => this.#publish());
  }

  #count(bytes: number): void {
    this.#bytesSinceCheck += bytes;
    if (this.#bytesSinceCheck > CHECK_EVERY_BYTES) this.#makeRoom();
  }

  #makeRoom(): void {
    this.#bytesSinceCheck = 0;
    let total = 0;
    for (const follower of this.#followers) total += follower.bufferedBytes;
    if (total <= MAX_TOTAL_BYTES) return;
    for (const follower of [...this.#followers].sort((a, b) => a.progressAt - b.progressAt)) {
      if (total <= MAX_TOTAL_BYTES) return;
      if (follower.bufferedBytes === 0) continue;
      total -= follower.bufferedBytes;
      follower.cut();
    }
  }

  /** Returns the next events without gaps. A page that ends before `#pending` does leaves the rest of them pending. */
  #inOrder(): EncodedFrame[] {
    const pending = this.#pending.filter(({ seq }) => seq > this.#lastSeq).sort((a, b) => a.seq - b.seq);
    const isComplete = pending.length === 0 || pending.at(-1)!.seq === this.#lastSeq + pending.length;
    const frames = isComplete
      ? pending.map(encodeFrame)
      : this.#log.rawEvents({ after: this.#lastSeq, maxBytes: PAGE_BYTES }).map((event) => encodeRaw(event));
    const last = frames.at(-1)?.seq ?? 0;
    this.#pending = pending.filter(({ seq }) => seq > last);
    return frames;
  }
}
