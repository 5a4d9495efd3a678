// The live events: hears every event of the engine once and hands it to all followers, in the order of the log.
//
// Invariants
// 1. What is handed out is exactly the log: each `seq` once, in order, none left out. Events are published run by run, so
//    one may be heard before its predecessor; then the log itself is asked.
// 2. A follower costs the others nothing: nobody waits for it, and what it does not take is bounded (see follower.ts).
import { Follower, type EventLog, type Wanted } from "./follower.ts";
import { Batch } from "./frame.ts";
import type { Outlet } from "./outlet.ts";
import type { StoredEvent } from "../schema/event.ts";

const HEARTBEAT_MS = 15_000;

export class Feed {
  readonly #log: EventLog;
  readonly #followers = new Set<Follower>();
  readonly #leave: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  #heard: StoredEvent[] = [];
  #due: NodeJS.Immediate | null = null;
  /** Everything up to this `seq` has been handed out. */
  #last: number;
  #cutOff = 0;

  constructor(log: EventLog) {
    this.#log = log;
    this.#last = log.lastSeq();
    this.#leave = log.subscribe((event) => this.#hear(event));
    this.#heartbeat = setInterval(() => {
      for (const follower of this.#followers) follower.beat();
    }, HEARTBEAT_MS).unref();
  }

  follow(outlet: Outlet, wanted: Wanted): Follower {
    const follower = new Follower(this.#log, outlet, wanted);
    this.#followers.add(follower);
    void outlet.closed.then(() => {
      this.#followers.delete(follower);
      if (follower.wasCut) this.#cutOff += 1;
    });
    void follower.catchUp();
    return follower;
  }

  /** Who follows now, and how many were cut off. */
  get numbers(): { clients: number; cutOff: number } {
    return { clients: this.#followers.size, cutOff: this.#cutOff };
  }

  close(): void {
    this.#leave();
    clearInterval(this.#heartbeat);
    if (this.#due) clearImmediate(this.#due);
    for (const follower of this.#followers) follower.end();
  }

  /** What is heard in one turn of the loop goes out together, as one write for each follower. */
  #hear(event: StoredEvent): void {
    this.#heard.push(event);
    this.#due ??= setImmediate(() => this.#handOut());
  }

  #handOut(): void {
    this.#due = null;
    let events: StoredEvent[];
    try {
      events = this.#inOrder();
    } catch {
      // The log cannot be read, so nobody can be told what comes next; whoever comes back begins where he stopped.
      for (const follower of this.#followers) follower.end();
      return;
    }
    if (events.length === 0) return;
    this.#last = events.at(-1)!.seq;
    const batch = new Batch(events);
    for (const follower of this.#followers) follower.offer(batch);
  }

  #inOrder(): StoredEvent[] {
    const heard = this.#heard.filter(({ seq }) => seq > this.#last).sort((a, b) => a.seq - b.seq);
    this.#heard = [];
    const complete = heard.length === 0 || heard.at(-1)!.seq === this.#last + heard.length;
    return complete ? heard : this.#log.events({ after: this.#last });
  }
}
