// Everything that is not deterministic: the clock, waiting and ids. The engine takes a World instead of calling
// the platform, so that a simulation can drive the real engine in virtual time and a failure can be repeated from its seed.
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

export interface World {
  /** Wall-clock time in milliseconds since 1970; what is written into the log. */
  now(): number;
  /** A clock that only goes forward; for measuring, never for the log. */
  mono(): number;
  /** Waits, or ends early without an error when the signal fires. In the background it does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal, inBackground?: boolean): Promise<void>;
  /** `length` characters of [a-z0-9], unguessable. */
  id(length: number): string;
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

export const realWorld: World = {
  now: () => Date.now(),
  mono: () => performance.now(),
  async sleep(ms, signal, inBackground = false) {
    try {
      await delay(ms, undefined, { ref: !inBackground, ...(signal ? { signal } : {}) });
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  },
  id(length) {
    let text = "";
    for (let i = 0; i < length; i++) text += ALPHABET[randomInt(ALPHABET.length)];
    return text;
  },
};
