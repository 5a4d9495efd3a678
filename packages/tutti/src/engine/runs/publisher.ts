// `Publisher` sends stored events to subscribers in the order of the log. It owns the server log, which has the events
// without a run.
import { guarded } from "../guarded.ts";
import type { Listener } from "../engine.ts";
import { ServerLog } from "./server-log.ts";
import type { TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Store } from "../../store/store.ts";
import type { World } from "../../world.ts";

interface PublisherOptions {
  store: Store;
  world: World;
  /** Called before events of `serverLog` are published. */
  onServerEvents: (events: StoredEvent[]) => void;
  /** Called when `serverLog` cannot be written. */
  failed: (error: unknown) => void;
}

export class Publisher {
  readonly serverLog: ServerLog;
  readonly #listeners = new Set<Listener>();
  readonly #onServerEvents: (events: StoredEvent[]) => void;
  readonly #halt = Promise.withResolvers<never>();

  constructor({ store, world, onServerEvents, failed }: PublisherOptions) {
    this.#onServerEvents = onServerEvents;
    this.serverLog = new ServerLog({ store, world, published: (events) => this.publishServerEvents(events), failed });
    // If no caller waits for `halted`, the rejection would be reported as unhandled.
    this.#halt.promise.catch(() => {});
  }

  publishServerEvents(events: StoredEvent[]): void {
    this.#onServerEvents(events);
    this.publish(events, null);
  }

  publish(events: StoredEvent[], run: Run | null): void {
    for (const event of events) {
      for (const listener of this.#listeners) guarded(() => listener(event, run));
    }
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when `reached` accepts `now` or a later state of its run; rejects after `halt`. */
  async until(now: Run, reached: (run: Run) => boolean): Promise<Run> {
    if (reached(now)) return now;
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    const unsubscribe = this.subscribe((_, run) => {
      try {
        if (run?.id === now.id && reached(run)) resolve(run);
      } catch (error) {
        reject(error);
      }
    });
    try {
      return await Promise.race([promise, this.halted]);
    } finally {
      unsubscribe();
    }
  }

  get halted(): Promise<never> {
    return this.#halt.promise;
  }

  halt(error: TuttiError): void {
    this.serverLog.halt(error);
    this.#halt.reject(error);
  }
}
