// A clock that runs like the real one, and that a test moves ahead. Timeouts of a template can then be far longer than
// anything a slow machine takes, and still be over when the test wants them to be.
import { setImmediate } from "node:timers/promises";
import { realWorld, type World } from "../../src/world.ts";

/** A longer step would look as if the machine had slept (`ClockWatch`), and sessions would be given that time back. */
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

  /** Moves the clock ahead, in steps between which sleepers that are due have their turn. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#ahead += Math.min(left, STEP_MS);
      for (const { due, wake } of [...this.#sleepers].toSorted((a, b) => a.due - b.due)) if (due <= this.mono()) wake();
      for (let i = 0; i < 20; i++) await setImmediate();
    }
  }
}
