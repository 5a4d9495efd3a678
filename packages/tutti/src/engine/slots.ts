// `Slots` counts free worker slots: over all runs, per agent, by free memory, and by the provider's refusals.
import type { Run } from "../schema/run.ts";

export interface SlotLimits {
  /** Concurrent workers over all runs. */
  maxWorkers: number;
  /** Concurrent workers for each `agentKind`, such as `claude`. */
  perAgent?: Readonly<Record<string, number>>;
  /** Bytes that one worker is expected to need. Memory limits nothing unless `freeMemory` is given too. */
  memoryPerWorker?: number;
  freeMemory?: () => number;
}

export interface Asker {
  agent: string;
  provider: string;
}

/**
 * One entry per active worker over all runs, with its start time. `next` is a state about to be stored, which counts
 * instead of the stored state of its run.
 */
export type ActiveAgents = (next?: Run) => (Asker & { since: number })[];

/** Providers of main sessions with an open or due turn, over all runs. */
type AskedMains = () => string[];

/** Returns null if `provider` has not refused in any run. */
type RefusedUntil = (provider: string) => number | null;

/** A provider that has not answered for `REFUSAL_EXPIRES_MS` after `until` counts as available again. */
const REFUSAL_EXPIRES_MS = 600_000;

/** A worker younger than `YOUNG_MS` has not yet allocated the memory that it will need. */
const YOUNG_MS = 20_000;

const agentKind = (agent: string): string => agent.split(":", 1)[0]!;

export class Slots {
  readonly #limits: SlotLimits;
  readonly #active: ActiveAgents;
  readonly #now: () => number;
  readonly #refusedUntil: RefusedUntil;
  readonly #mains: AskedMains;
  readonly #reserved: Asker[] = [];
  /** Providers of main sessions that are starting; these occupy no worker slot. */
  readonly #starting: string[] = [];

  constructor(
    limits: SlotLimits,
    active: ActiveAgents,
    now: () => number,
    refusedUntil: RefusedUntil = () => null,
    mains: AskedMains = () => [],
  ) {
    this.#limits = limits;
    this.#active = active;
    this.#now = now;
    this.#refusedUntil = refusedUntil;
    this.#mains = mains;
  }

  /** Returns when to look again, or null if `provider` admits a session now. */
  opensAt({ provider }: Asker): number | null {
    const until = this.#refusedUntil(provider);
    // Most providers have refused nothing, and then the active workers need not be counted.
    if (until === null || this.#byProvider(provider, [...this.#active(), ...this.#reserved]) > 0) return null;
    return this.#now() < until ? until : until + REFUSAL_EXPIRES_MS;
  }

  /** `provider` admits no session while it refuses, and then one as a probe. */
  #byProvider(provider: string, active: readonly Asker[]): number {
    const until = this.#refusedUntil(provider);
    if (until === null || this.#now() >= until + REFUSAL_EXPIRES_MS) return Number.POSITIVE_INFINITY;
    if (this.#now() < until) return 0;
    const others = [...active.map((each) => each.provider), ...this.#mains(), ...this.#starting];
    return others.includes(provider) ? 0 : 1;
  }

  /** Returns how many workers of `agent` may start now, besides those of `chosen` and of `reserve`. */
  free(asker: Asker, next?: Run, chosen: readonly Asker[] = []): number {
    return this.counted(next)(asker, chosen);
  }

  /** Counts the active workers once, for several calls of `free` about the same moment. */
  counted(next?: Run): (asker: Asker, chosen: readonly Asker[]) => number {
    const known = this.#active(next);
    return ({ agent, provider }, chosen) => {
      const { maxWorkers } = this.#limits;
      const active = [...known, ...this.#reserved, ...chosen];
      const byProvider = this.#byProvider(provider, active);
      const byMemory = this.#byMemory(known, active.length);
      return Math.max(0, Math.min(maxWorkers - active.length, this.#byKind(agent, active), byMemory, byProvider));
    };
  }

  #byKind(agent: string, active: readonly Asker[]): number {
    const { perAgent = {} } = this.#limits;
    const kind = agentKind(agent);
    if (!Object.hasOwn(perAgent, kind)) return Number.POSITIVE_INFINITY;
    return perAgent[kind]! - active.filter((each) => agentKind(each.agent) === kind).length;
  }

  /** Without an active worker at least one may start, because waiting would not raise `freeMemory`. */
  #byMemory(known: ReturnType<ActiveAgents>, active: number): number {
    const { memoryPerWorker, freeMemory } = this.#limits;
    if (memoryPerWorker === undefined || freeMemory === undefined) return Number.POSITIVE_INFINITY;
    // Workers that are about to start are young, too.
    const old = known.filter(({ since }) => this.#now() - since >= YOUNG_MS).length;
    return Math.max(active === 0 ? 1 : 0, Math.floor(freeMemory() / memoryPerWorker) - (active - old));
  }

  /** Holds the probe of `provider` until the log shows the main session. Returns a function that releases it. */
  holdMain({ provider }: Asker): () => void {
    this.#starting.push(provider);
    return () => void this.#starting.splice(this.#starting.indexOf(provider), 1);
  }

  /** Reserves a slot until the log shows the worker. Returns a function that releases it. */
  reserve(asker: Asker): () => void {
    this.#reserved.push(asker);
    return () => void this.#reserved.splice(this.#reserved.indexOf(asker), 1);
  }
}
