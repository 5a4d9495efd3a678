// `ServerLog` holds events that belong to no run: templates, sub-sessions, schedules. It shares the sequence of the
// runs, and events are published only after they are on disk.
import { asTuttiError, type TuttiError } from "../../schema/error.ts";
import type { RunEvent, StoredEvent } from "../../schema/event.ts";
import type { Store } from "../../store/store.ts";
import type { World } from "../../world.ts";

interface ServerLogOptions {
  store: Store;
  world: World;
  published: (events: StoredEvent[]) => void;
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

  read(): StoredEvent[] {
    return this.#options.store.read({ run: null });
  }

  /** Keeps the order of the calls; resolves when `events` are on disk. */
  append(events: readonly RunEvent[]): Promise<StoredEvent[]> {
    const stored = this.#written.then(() => this.#append(events));
    this.#written = stored.catch(() => {});
    return stored;
  }

  halt(error: TuttiError): void {
    this.#halted ??= error;
  }

  async idle(): Promise<void> {
    await this.#written;
  }

  async #append(events: readonly RunEvent[]): Promise<StoredEvent[]> {
    if (this.#halted) throw this.#halted;
    const { store, world, published, failed } = this.#options;
    const timestamp = world.now();
    const timed = events.map((event) => ({ ...event, timestamp }));
    for (;;) {
      this.#last ??= store.read({ run: null, before: Number.MAX_SAFE_INTEGER, limit: 1 })[0]?.runSeq ?? 0;
      try {
        const stored = await store.append(null, this.#last, timed);
        this.#last += stored.length;
        published(stored);
        return stored;
      } catch (error) {
        this.#last = null;
        // All servers of a shared store append to this log, and another one was first.
        if (store.shared && asTuttiError(error).code === "append_conflict") continue;
        failed(error);
        throw error;
      }
    }
  }
}
