// Notices that time has passed which nobody could use: the machine slept, the process was stopped, or the clock was set.
// Sessions are given that time back, so that healthy work is not ended for it.
import type { World } from "../world.ts";

const EVERY_MS = 5000;
/** Less than this is a busy machine, not a gap. */
const GAP_MS = 15_000;

export class ClockWatch {
  readonly #world: World;
  readonly #jumped: (byMs: number) => void;
  readonly #end = new AbortController();
  #wall: number;
  #mono: number;

  constructor(world: World, jumped: (byMs: number) => void) {
    this.#world = world;
    this.#jumped = jumped;
    this.#wall = world.now();
    this.#mono = world.mono();
    void this.#watch();
  }

  async #watch(): Promise<void> {
    while (!this.#end.signal.aborted) {
      await this.#world.sleep(EVERY_MS, this.#end.signal, true);
      if (!this.#end.signal.aborted) this.look();
    }
  }

  /** To be called before a deadline is acted on: the gap must be known first. */
  look(): void {
    const wall = this.#world.now() - this.#wall;
    const mono = this.#world.mono() - this.#mono;
    this.#wall += wall;
    this.#mono += mono;
    // The clock of the log moved without the other one; or both did while nobody here was running. How much of that time
    // was before the sleep nobody knows; it is given back too.
    const gap = Math.abs(wall - mono) > GAP_MS ? wall - mono : mono > EVERY_MS + GAP_MS ? mono : 0;
    if (gap !== 0) this.#jumped(Math.round(gap));
  }

  stop(): void {
    this.#end.abort();
  }
}
