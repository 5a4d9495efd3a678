// `runInSlices` gives other work of the process its turn in between. Long work is written as a generator that yields
// after every step, and a step takes a few milliseconds at most.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** After `SLICE_MS` other work gets its turn. */
const SLICE_MS = 15;

export class TimeSlice {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async renew(): Promise<void> {
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}

export async function runInSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (slice.isOver) await slice.renew();
  }
}
