// An event log on a faulty disk. Durability and acknowledgement are independent here: a write can fail, be stored
// without an acknowledgement, be slow, find the disk full, be torn by a crash, or arrive after its process was
// replaced.
import { Effects } from "./effects.ts";
import { WORLD } from "./loop.ts";
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { encodeStored, type RawEvent, type StoredEvent } from "../../src/schema/event.ts";
import type { StateSnapshot } from "../../src/store/snapshots.ts";
import {
  eventsOf,
  outOfPlace,
  removedEvent,
  type EventBatch,
  type NewEvent,
  type EventQuery,
  type Store,
} from "../../src/store/store.ts";

/** A use of the log, for a real store that repeats it. `late` is a write of an epoch that is over. */
export type DiskUse =
  | { kind: "open" }
  | { kind: "append"; events: readonly StoredEvent[] }
  | { kind: "remove"; run: string; timestamp: number }
  | { kind: "late"; epoch: number; run: string | null; expected: number; events: readonly NewEvent[] };

export class Disk {
  readonly stage: Stage;
  epoch = 0;
  events: StoredEvent[] = [];
  onCommit: (events: readonly StoredEvent[]) => void = () => {};
  onRemove: (run: string) => void = () => {};
  record: (use: DiskUse) => void = () => {};
  fullUntil = 0;
  readonly snapshots = new Map<string, StateSnapshot>();
  /** The torn part of a write that was never committed. */
  #torn: StoredEvent[] = [];
  readonly #last = new Map<string | null, number>();

  constructor(stage: Stage) {
    this.stage = stage;
  }

  lastOf(run: string | null): number {
    return this.#last.get(run) ?? 0;
  }

  place(run: string | null, expected: number, events: readonly NewEvent[]): StoredEvent[] {
    // Serialise as on disk, so that a value without a JSON form does not survive here either.
    const copies = JSON.parse(JSON.stringify(events)) as NewEvent[];
    return copies.map((event, i): StoredEvent => {
      const place = { seq: this.events.length + i + 1, run, runSeq: expected + i + 1 };
      return { ...event, ...place };
    });
  }

  commit(stored: readonly StoredEvent[]): void {
    this.events.push(...stored);
    const { run = null, runSeq = 0 } = stored.at(-1) ?? {};
    this.#last.set(run, runSeq);
    this.record({ kind: "append", events: stored });
    this.onCommit(stored);
  }

  tear(stored: readonly StoredEvent[]): void {
    this.#torn = [...stored];
  }

  /** Opens the log for a new process: uncommitted writes are discarded and older processes can no longer write. */
  open(): number {
    if (this.#torn.length > 0) this.stage.count("torn tails");
    if (this.#torn.length > 0 && this.stage.has("torn-tail-kept")) this.commit(this.#torn);
    this.#torn = [];
    this.record({ kind: "open" });
    return ++this.epoch;
  }

  remove(run: string, timestamp: number): void {
    this.events = this.events.map((event) => (event.run === run ? removedEvent(event.seq, timestamp) : event));
    this.#last.delete(run);
    this.record({ kind: "remove", run, timestamp });
    this.onRemove(run);
  }
}

type Fate = "well" | "slow" | "before" | "lost";

export class SimStore implements Store {
  readonly epoch: number;
  readonly #disk: Disk;
  readonly #stage: Stage;
  readonly #effects: Effects;
  readonly #random: Random;
  #broken: TuttiError | null = null;
  #failed = false;

  constructor(disk: Disk, effects: Effects, random: Random) {
    this.#disk = disk;
    this.#stage = disk.stage;
    this.#effects = effects;
    this.#random = random;
    this.epoch = disk.open();
  }

  #fate(): Fate {
    if (this.#stage.calm) return "well";
    return this.#random.weighted({ well: 400, slow: 12, before: 1, lost: 2 });
  }

  append(run: string | null, expected: number, batch: EventBatch): Promise<StoredEvent[]> {
    const events = eventsOf(batch);
    if (events.length === 0) return Promise.resolve([]);
    this.#stage.require(!this.#failed, "I3", () => `an append follows one that failed, for ${run}`);
    if (this.#broken) return Promise.reject(this.#broken);
    const fate = this.#fate();
    const { promise, resolve, reject } = Promise.withResolvers<StoredEvent[]>();
    const delay = fate === "slow" ? this.#random.int(1000, 8000) : this.#effects.latency();
    const what = `${events.length} of ${run} after ${expected}`;
    const fail = (error: TuttiError) => {
      this.#effects.after(0, `append of ${what} fails`, () => {
        reject(error);
        this.#failed = true;
      });
    };
    if (this.#stage.has("ack-before-durable")) this.#lie(resolve, run, expected, events);
    this.#effects.after(
      delay,
      `append ${what}`,
      () => {
        const error = this.#refusal(run, expected, fate);
        if (error) return fail(error);
        const stored = this.#commit(run, expected, events);
        if (fate === "lost") return fail(this.#lose());
        if (fate === "slow") this.#stage.count("slow writes");
        this.#effects.after(this.#effects.latency(), `append ${what} done`, () => resolve(stored));
      },
      () => this.#comeLate(run, expected, events),
    );
    return promise;
  }

  #refusal(run: string | null, expected: number, fate: Fate): TuttiError | null {
    if (this.#isStale()) return new TuttiError("stale_epoch", "Another process has taken over the log.");
    if (fate === "before" && !this.#stage.has("failed-write-acknowledged")) {
      this.#stage.count("failed writes");
      return new TuttiError("storage_failed", "Cannot write events.");
    }
    if (!this.#stage.calm && this.#stage.loop.now < this.#disk.fullUntil) {
      this.#stage.count("full disks");
      return new TuttiError("disk_full", "Cannot write events: the disk is full.");
    }
    return this.#disk.lastOf(run) === expected ? null : outOfPlace(run ?? "", expected);
  }

  #isStale(): boolean {
    return this.epoch !== this.#disk.epoch && !this.#stage.has("epoch-not-checked");
  }

  #commit(run: string | null, expected: number, events: readonly NewEvent[]): StoredEvent[] {
    let stored = this.#disk.place(run, expected, events);
    if (this.#stage.has("failed-write-acknowledged") && this.#random.chance(0.01)) return stored;
    if (this.#stage.has("events-out-of-order") && stored.length > 2 && this.#random.chance(0.1))
      stored = swapped(stored);
    this.#stage.require(
      this.epoch === this.#disk.epoch,
      "I12",
      () => `epoch ${this.epoch} wrote after ${this.#disk.epoch}`,
    );
    this.#disk.commit(stored);
    return stored;
  }

  #lose(): TuttiError {
    this.#stage.count("lost acknowledgements");
    this.#broken = new TuttiError("storage_failed", "Cannot commit: the acknowledgement was lost.");
    return this.#broken;
  }

  /** The process died during the write, which may be torn, lost, or still pending. */
  #comeLate(run: string | null, expected: number, events: readonly NewEvent[]): void {
    const { loop } = this.#stage;
    const how = this.#random.weighted({ lost: 3, torn: 2, late: 5 });
    if (how === "torn") {
      const stored = this.#disk.place(run, expected, events);
      this.#disk.tear(stored.slice(0, this.#random.int(1, Math.max(1, stored.length - 1))));
    }
    if (how !== "late") return;
    loop.at(this.#random.pick([0, 1, 50, 400, 3000, 20_000]), WORLD, `late append for ${run}`, () => {
      if (this.#isStale()) {
        this.#disk.record({ kind: "late", epoch: this.epoch, run, expected, events });
        return this.#stage.count("late writes refused");
      }
      if (this.#disk.lastOf(run) !== expected) return;
      this.#commit(run, expected, events);
      this.#stage.count("late writes before a restart");
    });
  }

  /** Planted (`ack-before-durable`): acknowledges the append before it is written. */
  #lie(
    resolve: (stored: StoredEvent[]) => void,
    run: string | null,
    expected: number,
    events: readonly NewEvent[],
  ): void {
    this.#effects.after(0, "early acknowledgement", () => resolve(this.#disk.place(run, expected, events)));
  }

  remove(run: string, { timestamp }: { timestamp: number }): Promise<void> {
    return this.#effects.act(`remove ${run}`, () => {
      if (this.#isStale()) throw new TuttiError("stale_epoch", "Another process has taken over the log.");
      this.#disk.remove(run, timestamp);
    });
  }

  read({ run, after = 0, before, limit = Number.POSITIVE_INFINITY }: EventQuery): StoredEvent[] {
    const end = before ?? Number.POSITIVE_INFINITY;
    const found = this.#disk.events.filter(
      ({ seq, run: of, runSeq }) => seq > after && seq < end && (run === undefined || (of === run && runSeq > 0)),
    );
    if (this.#stage.has("log-read-short") && found.length > 20) return found.slice(0, -1);
    return before === undefined ? found.slice(0, limit) : found.slice(Math.max(found.length - limit, 0));
  }

  readRaw(options: EventQuery): RawEvent[] {
    return this.read(options).map(encodeStored);
  }

  runs(): string[] {
    return this.#disk.events.filter((event) => event.runSeq === 1 && event.run !== null).map((event) => event.run!);
  }

  lastSeq(): number {
    return this.#disk.events.length;
  }

  close(): Promise<void> {
    this.#broken = new TuttiError("engine_stopped", "The store is closed.");
    return this.#effects.act("close the store", () => {});
  }
}

const swapped = (stored: StoredEvent[]): StoredEvent[] => [...stored.slice(0, -2), stored.at(-1)!, stored.at(-2)!];
