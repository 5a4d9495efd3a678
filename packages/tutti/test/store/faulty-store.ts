import { TuttiError } from "../../src/schema/error.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import { eventsOf, type EventBatch } from "../../src/store/store.ts";

/**
 * `before`: nothing is stored and the write is rejected. `full`: the same with `disk_full`. `lost`: everything is
 * stored but the write is rejected, and the store is broken as after a failed commit.
 */
type StoreFault = "before" | "full" | "lost";

/** A store that fails on demand. */
export class FaultyStore extends MemoryStore {
  #faults: StoreFault[] = [];
  #broken: TuttiError | null = null;

  /** Each of `faults` makes one `append` or `remove` fail. */
  failNext(...faults: StoreFault[]): void {
    this.#faults.push(...faults);
  }

  override async append(run: string | null, expected: number, batch: EventBatch): Promise<StoredEvent[]> {
    const events = eventsOf(batch);
    return events.length === 0 ? [] : this.#write(() => super.append(run, expected, events));
  }

  override async remove(run: string, about: { timestamp: number }): Promise<void> {
    return this.#write(() => super.remove(run, about));
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#broken) throw this.#broken;
    const fault = this.#faults.shift();
    if (fault === "before") throw new TuttiError("storage_failed", "Cannot write events: a fault was injected.");
    if (fault === "full") throw new TuttiError("disk_full", "Cannot write events: the disk is full.");
    const written = await work();
    if (fault !== "lost") return written;
    this.#broken = new TuttiError("storage_failed", "Cannot commit: the acknowledgement was lost.");
    throw this.#broken;
  }
}
