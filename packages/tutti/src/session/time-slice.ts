// Long work runs in slices, so that other work of the process gets its turn in between. It is written as a generator
// that yields after every step, and a step takes a few milliseconds at most.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** The longest time to work before other work gets its turn. */
const SLICE_MS = 15;

export class TimeSlice {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Lets other work have its turn, and begins the next slice. */
  async renew(): Promise<void> {
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}

/** Runs `steps` to its end and returns its result. */
export async function runInSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    if (slice.isOver) await slice.renew();
  }
}
