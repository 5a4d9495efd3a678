// Property test of `Feed` with random logs and random publication orders.
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Listener } from "../../src/engine/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { Feed } from "../../src/server/live/feed.ts";
import type { EventLog } from "../../src/server/live/follower.ts";
import type { Outlet } from "../../src/server/live/outlet.ts";

const RARE = "workspace:released";

/** A log that publishes events later, and in another order, than it stored them. */
class LateLog implements EventLog {
  readonly stored: StoredEvent[] = [];
  #unpublished: StoredEvent[] = [];
  #listener: Listener = () => {};

  append(run: string): void {
    const seq = this.stored.length + 1;
    const place = { seq, run, runSeq: seq, timestamp: seq };
    const event: StoredEvent =
      seq % 7 === 0
        ? { ...place, type: RARE, data: { id: run } }
        : { ...place, type: "orchestrator:cancelled", data: { id: run, phase: null } };
    this.stored.push(event);
    this.#unpublished.push(event);
  }

  /** Publishes the unpublished events except the first few, reversed within groups of this size. */
  publish(group: number, heldBack = 0): void {
    const unpublished = this.#unpublished.splice(heldBack);
    for (let i = 0; i < unpublished.length; i += group) {
      for (const event of unpublished.slice(i, i + group).toReversed()) this.#listener(event, {} as Run);
    }
  }

  events({ run, after = 0, before, limit = Infinity }: Parameters<EventLog["events"]>[0]): StoredEvent[] {
    const end = before ?? Infinity;
    const found = this.stored.filter(
      (event) => event.seq > after && event.seq < end && (run === undefined || event.run === run),
    );
    return before === undefined ? found.slice(0, limit) : found.slice(Math.max(found.length - limit, 0));
  }

  lastSeq(): number {
    return this.stored.length;
  }

  subscribe(listener: Listener): () => void {
    this.#listener = listener;
    return () => (this.#listener = () => {});
  }
}

/** A client that reads each page after some turns of the event loop. */
class SlowOutlet implements Outlet {
  readonly seqs: number[] = [];
  readonly #closing = Promise.withResolvers<void>();
  readonly #turns: number;
  readonly closed = this.#closing.promise;

  constructor(turns: number) {
    this.#turns = turns;
  }

  send(batch: Parameters<Outlet["send"]>[0]): void {
    this.seqs.push(...batch.events.map(({ seq }) => seq));
  }

  async taken(): Promise<void> {
    for (let i = 0; i < this.#turns; i++) await turn();
  }

  buffered = () => 0;
  beat = () => {};
  end = () => this.#closing.resolve();
  cut = () => this.#closing.resolve();
}

const run = fc.constantFrom("orch_a", "orch_b");
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("append"), runs: fc.array(run, { maxLength: 90, size: "max" }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("publish"), group: fc.integer({ min: 1, max: 5 }), heldBack: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("turn") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("follow"),
      after: fc.option(fc.nat(300), { freq: 2 }),
      tail: fc.option(fc.nat(200), { freq: 2, nil: 0 }),
      rare: fc.boolean(),
      only: fc.option(run),
      turns: fc.nat(4),
    }),
  },
);
type Step = {
  does: string;
  runs?: string[];
  group?: number;
  heldBack?: number;
  after?: number | null;
  tail?: number;
  rare?: boolean;
  only?: string | null;
  turns?: number;
};

describe("the feed", () => {
  it("sends every follower its events once and in order, whenever it joins and in whatever order they are published", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: "max" }), async (steps: Step[]) => {
        const log = new LateLog();
        const feed = new Feed(log);
        const followers: { outlet: SlowOutlet; due: () => StoredEvent[] }[] = [];
        for (const { does, runs, group, heldBack, after, tail = 0, rare, only, turns } of steps) {
          if (does === "append") for (const each of runs!) log.append(each);
          if (does === "publish") log.publish(group!, heldBack);
          if (does === "turn") await turn();
          if (does === "follow") {
            const outlet = new SlowOutlet(turns!);
            const types = rare ? new Set([RARE]) : null;
            const due = (bounds: object) =>
              log
                .events({ ...bounds, ...(only === null ? {} : { run: only! }) })
                .filter(({ type }) => types?.has(type) ?? true);
            const begin = after ?? log.lastSeq();
            // Only a follower without `after` has a tail, taken from the events stored now.
            const first = after === null && tail > 0 ? due({}).slice(-tail) : [];
            followers.push({ outlet, due: () => [...first, ...due({ after: begin })] });
            feed.follow(outlet, { after: after!, run: only!, types, ...(after === null ? { tail } : {}) });
          }
        }
        log.publish(2);
        // Enough turns for the slowest follower to read the longest log page by page.
        for (let i = 0; i < 250; i++) await turn();
        for (const { outlet, due } of followers) expect(outlet.seqs).toEqual(due().map(({ seq }) => seq));
        feed.close();
      }),
      { numRuns: 150 },
    );
  });
});
