// Places for workers: how many more may be started now, over all runs of this server, for one agent, in the memory that
// is left, and while its provider answers.
import type { Run } from "../schema/run.ts";

export interface SlotLimits {
  /** Workers at the same time over all runs. */
  maxWorkers: number;
  /** Workers at the same time for an agent, by the name that comes before a colon, e.g. `claude`. */
  perAgent?: Readonly<Record<string, number>>;
  /** Memory that one worker is expected to need, and how much there is; without both, memory is not looked at. */
  memoryPerWorker?: number;
  freeMemory?: () => number;
}

/** An agent, and who stands behind it as its run knows. */
export interface Asker {
  agent: string;
  provider: string;
}

/**
 * One entry for each worker that is active, over all runs: its agent, and since when it runs. A state of a run that is
 * about to be stored may be given, to be counted instead of the stored one.
 */
export type ActiveAgents = (instead?: Run) => (Asker & { since: number })[];

/** The providers of main sessions that are being asked something, or will be at the next moment, over all runs. */
export type AskedMains = () => string[];

/** Until when the provider of an agent answers nobody, as the runs have heard; null where none has heard such a thing. */
export type RefusedUntil = (provider: string) => number | null;

/** After this time without news a provider is taken to answer again. */
const NEWS_LAST_MS = 600_000;

/** So long a worker has not taken the memory that it will need. */
const YOUNG_MS = 20_000;

export const agentKind = (agent: string): string => agent.split(":", 1)[0]!;

export class Slots {
  readonly #limits: SlotLimits;
  readonly #active: ActiveAgents;
  readonly #now: () => number;
  readonly #refusedUntil: RefusedUntil;
  readonly #mains: AskedMains;
  readonly #reserved: Asker[] = [];
  /** Providers of main sessions that are about to start; those take no worker's place. */
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

  /** When to look again, because the agent's provider lets nobody in for now; null while it does. */
  opensAt({ provider }: Asker): number | null {
    if (this.#byProvider(provider, [...this.#active(), ...this.#reserved]) > 0) return null;
    const until = this.#refusedUntil(provider)!;
    return this.#now() < until ? until : until + NEWS_LAST_MS;
  }

  /** How many more its provider lets in: none while it refuses, then one that shows whether it still does. */
  #byProvider(provider: string, active: readonly Asker[]): number {
    const until = this.#refusedUntil(provider);
    if (until === null || this.#now() >= until + NEWS_LAST_MS) return Number.POSITIVE_INFINITY;
    if (this.#now() < until) return 0;
    const others = [...active.map((each) => each.provider), ...this.#mains(), ...this.#starting];
    return others.includes(provider) ? 0 : 1;
  }

  /** How many workers of this agent may be started now. */
  free({ agent, provider }: Asker, instead?: Run): number {
    const known = this.#active(instead);
    const active = [...known, ...this.#reserved];
    const { maxWorkers, perAgent = {} } = this.#limits;
    const kind = agentKind(agent);
    const ofKind = active.filter((each) => agentKind(each.agent) === kind).length;
    const cap = Object.hasOwn(perAgent, kind) ? perAgent[kind]! : Number.POSITIVE_INFINITY;
    const young = known.filter(({ since }) => this.#now() - since < YOUNG_MS).length + this.#reserved.length;
    const byProvider = this.#byProvider(provider, active);
    const byMemory = this.#byMemory(active.length, young);
    return Math.max(0, Math.min(maxWorkers - active.length, cap - ofKind, byMemory, byProvider));
  }

  /** Where nothing runs, one is started whatever is free: waiting would not make room. */
  #byMemory(active: number, young: number): number {
    const { memoryPerWorker, freeMemory } = this.#limits;
    if (memoryPerWorker === undefined || freeMemory === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(active === 0 ? 1 : 0, Math.floor(freeMemory() / memoryPerWorker) - young);
  }

  /** Held between the decision to start a main session and the moment when the log shows it. Returns the way out. */
  holdMain({ provider }: Asker): () => void {
    this.#starting.push(provider);
    return () => void this.#starting.splice(this.#starting.indexOf(provider), 1);
  }

  /** Held between the decision to start workers and the moment when the log shows them. */
  reserve(asker: Asker, count: number): void {
    for (let i = 0; i < count; i++) this.#reserved.push(asker);
  }

  /** What was reserved, by the same object. */
  release(asker: Asker, count: number): void {
    for (let i = 0; i < count; i++) this.#reserved.splice(this.#reserved.indexOf(asker), 1);
  }
}
