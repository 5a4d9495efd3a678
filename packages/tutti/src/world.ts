// Everything that is not deterministic: time, timers and ids. The engine takes a `World` instead of calling the
// platform, so that a simulation can run it in virtual time and repeat a failure from its seed.
import { randomInt } from "node:crypto";

export interface World {
  /** Wall-clock milliseconds since 1970, the `timestamp` of events. */
  now(): number;
  /** Monotonic time in milliseconds, for durations only. */
  mono(): number;
  /**
   * Resolves after `ms`, or at once when `signal` aborts. With `inBackground` the timer does not keep the process
   * alive.
   */
  sleep(ms: number, signal?: AbortSignal, inBackground?: boolean): Promise<void>;
  /** `length` random characters of [a-z0-9], unguessable. */
  id(length: number): string;
}

/** Like `performance.now`, the first use of which loads Node's `perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

export const realWorld: World = {
  now: () => Date.now(),
  mono: monotonicMs,
  sleep(ms, signal, inBackground = false) {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    // Unlike the timers of "node:timers/promises", an aborted one creates no exception.
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (inBackground) timer.unref();
    signal?.addEventListener("abort", end, { once: true });
    return promise;
  },
  id(length) {
    let text = "";
    for (let i = 0; i < length; i++) text += ALPHABET[randomInt(ALPHABET.length)];
    return text;
  },
};
