// `ClockWatch` detects lost time: the machine was suspended, the process was stopped, or the clock was set. `jumped`
// gives sessions that time back, so that healthy work does not time out.
import type { World } from "../world.ts";

const EVERY_MS = 5000;
/** A delay below `GAP_MS` is a busy machine, not a gap. */
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

  /** Must be called before acting on a deadline, because `jumped` may move it. */
  look(): void {
    const wall = this.#world.now() - this.#wall;
    const mono = this.#world.mono() - this.#mono;
    this.#wall += wall;
    this.#mono += mono;
    // Either `wall` moved without `mono`, or both moved while the process was stopped. The time before the stop is
    // unknown, so all of it is given back.
    const gap = Math.abs(wall - mono) > GAP_MS ? wall - mono : mono > EVERY_MS + GAP_MS ? mono : 0;
    if (gap !== 0) this.#jumped(Math.round(gap));
  }

  stop(): void {
    this.#end.abort();
  }
}
