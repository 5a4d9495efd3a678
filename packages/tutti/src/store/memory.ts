// An event log in memory with the invariants of `Store`.
import {
  eventsOf,
  notEncodable,
  outOfPlace,
  removedEvent,
  staleEpoch,
  storeClosed,
  type EventBatch,
  type NewEvent,
  type EventQuery,
  type Store,
} from "./store.ts";
import type { TuttiError } from "../schema/error.ts";
import { encodeStored, type RawEvent, type StoredEvent } from "../schema/event.ts";

/** A `MemoryDisk` outlives its store: pass the same one to two stores to simulate a restart or a race. */
export interface MemoryDisk {
  epoch: number;
  events: StoredEvent[];
}

export const newMemoryDisk = (): MemoryDisk => ({ epoch: 0, events: [] });

export class MemoryStore implements Store {
  readonly epoch: number;
  readonly #disk: MemoryDisk;
  #broken: TuttiError | null = null;

  constructor(disk: MemoryDisk = newMemoryDisk()) {
    this.#disk = disk;
    this.epoch = ++disk.epoch;
  }

  async append(run: string | null, expected: number, batch: EventBatch): Promise<StoredEvent[]> {
    const encoded = encode(eventsOf(batch));
    if (encoded.length === 0) return [];
    return this.#write(() => {
      if (this.#lastOfRun(run) !== expected) throw outOfPlace(run ?? "", expected);
      const stored = encoded.map((text, i): StoredEvent => {
        const place = { seq: this.lastSeq() + i + 1, run, runSeq: expected + i + 1 };
        return { ...(JSON.parse(text) as NewEvent), ...place };
      });
      this.#disk.events.push(...stored);
      return stored;
    });
  }

  async remove(run: string, { timestamp }: { timestamp: number }): Promise<void> {
    this.#write(() => {
      this.#disk.events = this.#disk.events.map((event) =>
        event.run === run ? removedEvent(event.seq, timestamp) : event,
      );
    });
  }

  #write<T>(work: () => T): T {
    if (this.#broken) throw this.#broken;
    if (this.epoch !== this.#disk.epoch) throw staleEpoch();
    return work();
  }

  #lastOfRun(run: string | null): number {
    return this.#disk.events.findLast((event) => event.run === run && event.runSeq > 0)?.runSeq ?? 0;
  }

  read({ run, after = 0, before, limit = Number.POSITIVE_INFINITY, maxBytes }: EventQuery): StoredEvent[] {
    const endSeq = before ?? Number.POSITIVE_INFINITY;
    const found = this.#disk.events.filter(
      ({ seq, run: of, runSeq }) => seq > after && seq < endSeq && (run === undefined || (of === run && runSeq > 0)),
    );
    const isLast = before !== undefined;
    const page = isLast ? found.slice(Math.max(found.length - limit, 0)) : found.slice(0, limit);
    if (maxBytes === undefined) return page;
    let bytes = 0;
    const ordered = isLast ? page.toReversed() : page;
    const end = ordered.findIndex(({ data }) => (bytes += JSON.stringify(data).length) >= maxBytes);
    const fitting = end === -1 ? ordered : ordered.slice(0, end + 1);
    return isLast ? fitting.toReversed() : fitting;
  }

  readRaw(options: EventQuery): RawEvent[] {
    return this.read(options).map(encodeStored);
  }

  runs(): string[] {
    return this.#disk.events.filter((event) => event.runSeq === 1 && event.run !== null).map((event) => event.run!);
  }

  lastSeq(): number {
    return this.#disk.events.at(-1)?.seq ?? 0;
  }

  async close(): Promise<void> {
    this.#broken = storeClosed();
  }
}

/** Encodes as on disk, so that a value without a JSON form does not survive in `MemoryDisk` either. */
function encode(events: readonly NewEvent[]): string[] {
  try {
    return events.map((event) => JSON.stringify(event));
  } catch (error) {
    throw notEncodable(error);
  }
}
