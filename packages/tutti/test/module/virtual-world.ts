// A clock that stands still until a test moves it. Whoever sleeps wakes in the order of time.
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

  /** Lets so much time pass; whatever is due by then has happened. */
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

/** Everything that only waits for its turn has had it. */
async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => void setImmediate(resolve));
}
