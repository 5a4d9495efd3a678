// A clock that runs like the real one and that a test can move ahead. A template can then have timeouts far longer than
// a slow machine needs, and the test decides when they elapse.
import { setImmediate } from "node:timers/promises";
import { realWorld, type World } from "../../src/world.ts";

/** A longer step would look like a suspended machine (`ClockWatch`), and sessions would get that time back. */
const STEP_MS = 4000;

interface Sleeper {
  due: number;
  wake: () => void;
  timer?: NodeJS.Timeout;
}

export class SteeredWorld implements World {
  #ahead: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(aheadMs = 0) {
    this.#ahead = aheadMs;
  }

  now(): number {
    return realWorld.now() + this.#ahead;
  }

  mono(): number {
    return realWorld.mono() + this.#ahead;
  }

  id(length: number): string {
    return realWorld.id(length);
  }

  sleep(ms: number, signal?: AbortSignal, inBackground = false): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(sleeper.timer);
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { due: this.mono() + ms, wake };
      sleeper.timer = setTimeout(wake, ms);
      if (inBackground) sleeper.timer.unref();
      signal?.addEventListener("abort", wake, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Moves the clock ahead by `STEP_MS` at a time. Due sleepers run in between. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#ahead += Math.min(left, STEP_MS);
      for (const { due, wake } of [...this.#sleepers].toSorted((a, b) => a.due - b.due)) if (due <= this.mono()) wake();
      for (let i = 0; i < 20; i++) await setImmediate();
    }
  }
}
