// Publishes the engine's events to all followers in log order.
//
// Invariants
// 1. Followers receive exactly the log: each `seq` once, in order, without gaps. The engine publishes run by run, so an
//    event may arrive before its predecessor; then `#inOrder` reads the log instead.
// 2. A slow follower does not delay the others: `Feed` never waits for one, and each buffers a bounded amount (follower.ts).
import { Follower, type EventLog, type FeedRequest } from "./follower.ts";
import { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { StoredEvent } from "../../schema/event.ts";

const HEARTBEAT_MS = 15_000;

export class Feed {
  readonly #log: EventLog;
  readonly #followers = new Set<Follower>();
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #pending: StoredEvent[] = [];
  #immediate: NodeJS.Immediate | null = null;
  /** The last `seq` that was published to the followers. */
  #lastSeq: number;
  #cutOff = 0;

  constructor(log: EventLog) {
    this.#log = log;
    this.#lastSeq = log.lastSeq();
    this.#unsubscribe = log.subscribe((event) => this.#enqueue(event));
    this.#heartbeat = setInterval(() => {
      for (const follower of this.#followers) follower.beat();
    }, HEARTBEAT_MS).unref();
  }

  follow(outlet: Outlet, wanted: FeedRequest): Follower {
    const follower = new Follower(this.#log, outlet, wanted);
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

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    if (this.#immediate) clearImmediate(this.#immediate);
    for (const follower of this.#followers) follower.end();
  }

  /** Batches the events of one turn of the event loop into a single write per follower. */
  #enqueue(event: StoredEvent): void {
    this.#pending.push(event);
    this.#immediate ??= setImmediate(() => this.#publish());
  }

  #publish(): void {
    this.#immediate = null;
    let events: StoredEvent[];
    try {
      events = this.#inOrder();
    } catch {
      // The log cannot be read, so the next event is unknown. Clients reconnect and continue after their last `seq`.
      for (const follower of this.#followers) follower.end();
      return;
    }
    if (events.length === 0) return;
    this.#lastSeq = events.at(-1)!.seq;
    const batch = new Batch(events);
    for (const follower of this.#followers) follower.offer(batch);
  }

  #inOrder(): StoredEvent[] {
    const pending = this.#pending.filter(({ seq }) => seq > this.#lastSeq).sort((a, b) => a.seq - b.seq);
    this.#pending = [];
    const complete = pending.length === 0 || pending.at(-1)!.seq === this.#lastSeq + pending.length;
    return complete ? pending : this.#log.events({ after: this.#lastSeq });
  }
}
