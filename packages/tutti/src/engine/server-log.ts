// What happens on the server and belongs to no run: templates that change, sub-sessions, schedules. One log of its own in
// the same sequence; what is told here is durable before anybody hears of it.
import type { TuttiError } from "../schema/error.ts";
import type { RunEvent, StoredEvent } from "../schema/event.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";

export interface ServerLogOptions {
  store: Store;
  world: World;
  /** Called with what has just become durable. */
  published: (events: StoredEvent[]) => void;
  /** The store has failed; nothing more will be written. */
  failed: (error: unknown) => void;
}

export class ServerLog {
  readonly #options: ServerLogOptions;
  #last: number | null = null;
  #written: Promise<unknown> = Promise.resolve();
  #halted: TuttiError | null = null;

  constructor(options: ServerLogOptions) {
    this.#options = options;
  }

  /** Everything that was told, from the beginning. */
  read(): StoredEvent[] {
    return this.#options.store.read({ run: null });
  }

  /** Resolves once the events are on disk, in the order of the calls. */
  tell(events: readonly RunEvent[]): Promise<StoredEvent[]> {
    const stored = this.#written.then(() => this.#append(events));
    this.#written = stored.catch(() => {});
    return stored;
  }

  halt(error: TuttiError): void {
    this.#halted ??= error;
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#written;
  }

  async #append(events: readonly RunEvent[]): Promise<StoredEvent[]> {
    if (this.#halted) throw this.#halted;
    const { store, world, published, failed } = this.#options;
    this.#last ??= this.read().at(-1)?.runSeq ?? 0;
    const timestamp = world.now();
    const timed = events.map((event) => ({ ...event, timestamp }));
    const stored = await store.append(null, this.#last, timed).catch((error: unknown) => {
      failed(error);
      throw error;
    });
    this.#last += stored.length;
    published(stored);
    return stored;
  }
}
