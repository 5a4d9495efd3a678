// `RateLimiter` keeps a token bucket per address that refills evenly, so short bursts pass.
import { TuttiError } from "../../schema/error.ts";

export interface RateLimit {
  perMinute: number;
}

interface Bucket {
  permits: number;
  at: number;
}

/** Above `MAX_BUCKETS`, `take` drops full buckets, which carry no information. */
const MAX_BUCKETS = 10_000;
const MINUTE_MS = 60_000;

export class RateLimiter {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute }: RateLimit) {
    if (!(perMinute >= 1))
      throw new TuttiError("usage", `The rate limit ${perMinute} is invalid. Allow at least one request per minute.`);
    this.#perMinute = perMinute;
  }

  /** Takes one permit of `address`, or throws `rate_limited` with the seconds until the next one. */
  take(address: string, now = Date.now()): void {
    if (this.#buckets.size > MAX_BUCKETS) this.#dropFullBuckets(now);
    const permits = this.#permits(address, now);
    if (permits >= 1) {
      this.#buckets.set(address, { permits: permits - 1, at: now });
      return;
    }
    const seconds = Math.ceil(((1 - permits) * MINUTE_MS) / this.#perMinute / 1000);
    throw new TuttiError("rate_limited", `Too many requests. Try again in ${seconds} s.`, {
      details: { retryAfterSeconds: seconds },
    });
  }

  #permits(address: string, now: number): number {
    const bucket = this.#buckets.get(address);
    if (!bucket) return this.#perMinute;
    // `Math.max` ignores a clock that was set back.
    const gained = (Math.max(0, now - bucket.at) * this.#perMinute) / MINUTE_MS;
    return Math.min(this.#perMinute, bucket.permits + gained);
  }

  #dropFullBuckets(now: number): void {
    for (const address of this.#buckets.keys()) {
      if (this.#permits(address, now) >= this.#perMinute) this.#buckets.delete(address);
    }
  }
}
