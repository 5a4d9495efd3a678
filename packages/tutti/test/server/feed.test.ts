// Property test of `Feed` with random logs and random publication orders.
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Listener } from "../../src/engine/engine.ts";
import { collectGarbage } from "../lab/collect-garbage.ts";
import { encodeStored, type RawEvent, type StoredEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { EventPages } from "../../src/server/live/event-pages.ts";
import { Feed } from "../../src/server/live/feed.ts";
import type { EventLog } from "../../src/server/live/follower.ts";
import type { Outlet } from "../../src/server/live/outlet.ts";
import type { EventQuery } from "../../src/store/store.ts";

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

  events({ run, after = 0, before, limit = Infinity, maxBytes }: EventQuery): StoredEvent[] {
    const end = before ?? Infinity;
    const found = this.stored.filter(
      (event) => event.seq > after && event.seq < end && (run === undefined || event.run === run),
    );
    // Nine events fill a page, so that the log is read in several pages.
    const most = Math.min(limit, maxBytes === undefined ? Infinity : 9);
    return before === undefined ? found.slice(0, most) : found.slice(Math.max(found.length - most, 0));
  }

  rawEvents(query: EventQuery): RawEvent[] {
    return this.events(query).map(encodeStored);
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

  send(batch: Parameters<Outlet["send"]>[0]): number {
    this.seqs.push(...batch.frames.map(({ seq }) => seq));
    return batch.stream.length;
  }

  async taken(): Promise<void> {
    for (let i = 0; i < this.#turns; i++) await turn();
  }

  buffered = () => 0;
  beat = () => {};
  end = () => this.#closing.resolve();
  cut = () => this.#closing.resolve();
}

/** A client that reads nothing until `read` is called. */
class StalledOutlet implements Outlet {
  readonly buffers: Buffer[] = [];
  beats = 0;
  #taken = Promise.withResolvers<void>();
  readonly #closing = Promise.withResolvers<void>();
  readonly closed = this.#closing.promise;
  isCut = false;

  send({ stream }: Parameters<Outlet["send"]>[0]): number {
    this.buffers.push(stream);
    return stream.length;
  }

  read(): void {
    this.buffers.length = 0;
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
  }

  taken = () => (this.buffers.length === 0 ? Promise.resolve() : this.#taken.promise);
  buffered = () => this.buffers.reduce((sum, { length }) => sum + length, 0);
  beat = () => void (this.beats += 1);
  end = () => this.#closing.resolve();
  cut = () => {
    this.isCut = true;
    this.buffers.length = 0;
    this.#closing.resolve();
  };
}

/** A log of events of `size` bytes; `publish` appends one and publishes it. */
function largeLog(count: number, size: number): EventLog & { publish(): void } {
  const text = "x".repeat(size);
  const events: StoredEvent[] = [];
  let listener: Listener = () => {};
  const append = (): StoredEvent => {
    const seq = events.length + 1;
    const event: StoredEvent = {
      seq,
      run: "orch_a",
      runSeq: seq,
      timestamp: seq,
      type: "orchestrator:imported",
      data: { id: text },
    };
    events.push(event);
    return event;
  };
  for (let i = 0; i < count; i++) append();
  return {
    rawEvents: ({ after = 0, maxBytes = Infinity }) =>
      events.slice(after, after + Math.max(1, Math.ceil(maxBytes / size))).map(encodeStored),
    lastSeq: () => events.length,
    subscribe: (next) => {
      listener = next;
      return () => {};
    },
    publish: () => listener(append(), {} as Run),
  };
}

/** Relies on the time limit of the test. */
async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await turn();
}

const MB = 1024 * 1024;
const everything = (after: number | null) => ({ after, run: null, types: null });

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
        const all = followers.map(({ outlet, due }) => ({ outlet, seqs: due().map(({ seq }) => seq) }));
        await until(() => all.every(({ outlet, seqs }) => outlet.seqs.length >= seqs.length));
        // A repeated event would arrive now.
        for (let i = 0; i < 20; i++) await turn();
        for (const { outlet, seqs } of all) expect(outlet.seqs).toEqual(seqs);
        feed.close();
      }),
      { numRuns: 150 },
    );
  });
});

describe("clients that read nothing", () => {
  afterEach(() => void vi.useRealTimers());

  it("share one copy of the page they wait with", async () => {
    const feed = new Feed(largeLog(10, MB));
    const outlets = Array.from({ length: 30 }, () => new StalledOutlet());
    for (const outlet of outlets) feed.follow(outlet, everything(0));
    await until(() => outlets.every(({ buffers }) => buffers.length > 0));
    expect(new Set(outlets.flatMap(({ buffers }) => buffers)).size).toBe(1);
    feed.close();
  });

  it("keep no page in memory that others have read elsewhere in the log", async () => {
    const pages = new EventPages(largeLog(40, MB));
    collectGarbage();
    const before = process.memoryUsage();
    for (let after = 0; after < 40; after++) expect(pages.read(null, after).stream.length).toBeGreaterThan(MB);
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    expect(heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(20 * MB);
  });

  it("are cut off on a quiet server after two heartbeats, and no others are", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const log = largeLog(0, 1000);
    const feed = new Feed(log);
    const [stalled, slow, idle] = [new StalledOutlet(), new StalledOutlet(), new StalledOutlet()];
    for (const outlet of [stalled, slow]) feed.follow(outlet, everything(null));
    log.publish();
    await until(() => stalled.buffers.length > 0 && slow.buffers.length > 0);
    feed.follow(idle, everything(null));
    vi.advanceTimersByTime(15_000);
    slow.read();
    await turn();
    await turn();
    vi.advanceTimersByTime(15_000);
    expect([stalled.isCut, slow.isCut, idle.isCut]).toEqual([true, false, false]);
    expect([stalled.beats, slow.beats, idle.beats]).toEqual([0, 1, 2]);
    feed.close();
  });

  it("hold at most 48 MB together, and those that have read most recently stay", async () => {
    const feed = new Feed(largeLog(400, MB));
    const outlets = Array.from({ length: 200 }, () => new StalledOutlet());
    // Different cursors, so that no page is shared.
    for (const [i, outlet] of outlets.entries()) feed.follow(outlet, everything(i));
    await until(() => outlets.every(({ buffers, isCut }) => isCut || buffers.length > 0));
    const held = outlets.reduce((sum, outlet) => sum + outlet.buffered(), 0);
    expect(held).toBeLessThan(58 * MB);
    expect(held).toBeGreaterThan(30 * MB);
    expect(outlets[0]!.isCut).toBe(true);
    expect(outlets.at(-1)!.isCut).toBe(false);
    feed.close();
  });

  it("hold at most a page and one batch of new events, and continue from the log when they read", async () => {
    const log = largeLog(0, 100_000);
    const feed = new Feed(log);
    const outlet = new StalledOutlet();
    feed.follow(outlet, everything(null));
    // Until it is live, it reads the log and not the new events.
    for (let i = 0; i < 20; i++) await turn();
    const seqs: string[] = [];
    for (let i = 0; i < 50; i++) {
      log.publish();
      await turn();
    }
    expect(outlet.buffered()).toBeLessThan(500_000);
    while (seqs.length < 50) {
      for (const buffer of outlet.buffers) seqs.push(...(buffer.toString().match(/(?<=^id: )\d+/gm) ?? []));
      outlet.read();
      await turn();
    }
    expect(seqs.map(Number)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    feed.close();
  });
});
