// Virtual time, timers and ids for one engine.
import type { Loop, Owner } from "./loop.ts";
import type { Random } from "./random.ts";
import type { World } from "../../src/world.ts";

const EPOCH = 1_700_000_000_000;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789".split("");

/** The wall clock, which `set` may change. The monotonic clock is the loop's own. */
export class WallClock {
  #offset = 0;
  #setAt = -1;
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  now(): number {
    return EPOCH + this.#loop.now + this.#offset;
  }

  /** Converts wall time to loop time. Valid only while the clock was never set. */
  virtual(wall: number): number {
    return wall - EPOCH;
  }

  set(byMs: number): void {
    this.#offset += byMs;
    this.#setAt = this.#loop.now;
  }

  get wasSet(): boolean {
    return this.wasSetSince(0);
  }

  wasSetSince(moment: number): boolean {
    return this.#setAt >= moment;
  }
}

export function simWorld(loop: Loop, clock: WallClock, random: Random, owner: Owner): World {
  return {
    now: () => clock.now(),
    mono: () => loop.now,
    sleep: (ms, signal) => sleep(loop, owner, ms, signal),
    id: (length) => Array.from({ length }, () => random.pick(ALPHABET)).join(""),
  };
}

function sleep(loop: Loop, owner: Owner, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const item = loop.at(Math.max(0, ms), owner, "timer", resolve);
    signal?.addEventListener(
      "abort",
      () => {
        loop.cancel(item);
        resolve();
      },
      { once: true },
    );
  });
}
