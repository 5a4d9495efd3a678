// A clock that advances only when a test moves it. Sleepers wake in the order of their times.
import type { World } from "../../src/world.ts";

interface Sleeper {
  at: number;
  wake: () => void;
}

export class VirtualWorld implements World {
  #now = Date.parse("2026-01-31T12:00:00.000Z");
  #ids = 0;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  mono(): number {
    return this.#now;
  }

  id(length: number): string {
    return String(++this.#ids).padStart(length, "0");
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => this.#sleepers.delete(sleeper) && resolve(), { once: true });
    });
  }

  /** Advances the clock; everything that is due by then has happened. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const [next] = [...this.#sleepers].toSorted((a, b) => a.at - b.at);
      if (!next || next.at > end) break;
      this.#sleepers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    this.#now = end;
    await settle();
  }
}

/** Runs pending microtasks and immediates for 30 rounds. */
async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => void setImmediate(resolve));
}
