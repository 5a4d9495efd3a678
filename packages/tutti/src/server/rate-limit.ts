// How often one address may ask. A bucket of permits for each, which fills up evenly: a burst is fine, a flood is not.
import { TuttiError } from "../schema/error.ts";

export interface RateLimit {
  /** Requests that one address may make in a minute. */
  perMinute: number;
}

interface Bucket {
  permits: number;
  at: number;
}

/** Full buckets say nothing and are thrown away when there are more than this. */
const MAX_BUCKETS = 10_000;
const MINUTE_MS = 60_000;

export class RateLimiter {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute }: RateLimit) {
    if (!(perMinute >= 1)) throw new TuttiError("usage", "a rate limit allows one request in a minute at least");
    this.#perMinute = perMinute;
  }

  /** Takes one permit of an address, or refuses and says in how many seconds there is one again. */
  take(address: string, now = Date.now()): void {
    if (this.#buckets.size > MAX_BUCKETS) this.#forgetFull(now);
    const permits = this.#permits(address, now);
    if (permits >= 1) {
      this.#buckets.set(address, { permits: permits - 1, at: now });
      return;
    }
    const seconds = Math.ceil(((1 - permits) * MINUTE_MS) / this.#perMinute / 1000);
    throw new TuttiError("rate_limited", `too many requests; try again in ${seconds} s`, {
      details: { retryAfterSeconds: seconds },
    });
  }

  #permits(address: string, now: number): number {
    const bucket = this.#buckets.get(address);
    if (!bucket) return this.#perMinute;
    // A clock that was set back gives nothing and takes nothing.
    const gained = (Math.max(0, now - bucket.at) * this.#perMinute) / MINUTE_MS;
    return Math.min(this.#perMinute, bucket.permits + gained);
  }

  #forgetFull(now: number): void {
    for (const address of this.#buckets.keys()) {
      if (this.#permits(address, now) >= this.#perMinute) this.#buckets.delete(address);
    }
  }
}
