// Simulates the providers. Each has its own outages, which affect all sessions. In the calm phase all of them answer.
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import type { Ending, FailureCause } from "../../src/schema/ending.ts";

/** The part of an `Ending` that describes how a provider ended a turn. */
export type Trouble = Pick<Ending, "detail" | "cause" | "retryAfterMs" | "resetAt">;

interface Outage {
  from: number;
  until: number;
  cause: FailureCause;
}

export class Providers {
  readonly #stage: Stage;
  readonly #outages = new Map<string, Outage[]>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Returns null if the provider answers at this moment. */
  trouble(provider: string, random: Random): Trouble | null {
    const { calm, loop } = this.#stage;
    if (calm) return null;
    const outage = this.#outagesOf(provider).find(({ from, until }) => loop.now >= from && loop.now < until);
    if (!outage) return null;
    this.#stage.count("asked while the provider is down");
    const isLimit = outage.cause === "usage_limit";
    return isLimit ? usedUp(this.#stage, random, this.#stage.clock.now()) : passing(random, outage.cause);
  }

  #outagesOf(provider: string): Outage[] {
    const cached = this.#outages.get(provider);
    if (cached) return cached;
    const random = this.#stage.random.fork(`provider ${provider}`);
    const outages: Outage[] = [];
    const times = random.chance(0.4) ? random.int(1, 6) : 0;
    for (let i = 0, now = 0; i < times; i++) {
      const from = now + random.pick([500, 5000, 20_000, 60_000]);
      now = from + random.pick([3000, 20_000, 60_000, 200_000]);
      outages.push({ from, until: now, cause: random.weighted(OUTAGES) });
    }
    this.#outages.set(provider, outages);
    return outages;
  }
}

const OUTAGES = { overloaded: 3, rate_limit: 3, api: 3, usage_limit: 1.5 };
const PASSING = ["overloaded", "rate_limit", "api"] as const;
const CANNOT = ["refusal", "invalid_request", "max_output", "max_turns", "agent_budget", "denied", "protocol"] as const;

/** A temporary refusal, with or without `retryAfterMs`. */
export function passing(random: Random, cause: FailureCause = random.pick(PASSING)): Trouble {
  const retryAfterMs = random.pick([undefined, undefined, 0, 2000, 40_000, 1_200_000]);
  return { cause, detail: `the provider says ${cause}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** The account's usage limit is reached. `now` is the wall clock's time. */
export function usedUp(stage: Stage, random: Random, now: number): Trouble {
  const detail = "the usage limit is reached";
  const resets = random.weighted({ unknown: 1, past: 1, soon: 4, far: 1 });
  stage.count(`usage limits: ${resets}`);
  const after = { unknown: null, past: -600_000, soon: random.pick([1, 8000, 30_000]), far: 864_000_000 }[resets];
  return { cause: "usage_limit", detail, ...(after === null ? {} : { resetAt: now + after }) };
}

export const ofAccount = (random: Random): Trouble => ({
  cause: random.pick(["auth", "billing"] as const),
  detail: "the account is not accepted",
});

/** A failure that a retry would repeat. */
export const forGood = (random: Random): Trouble => ({ cause: random.pick(CANNOT), detail: "it cannot be done" });
