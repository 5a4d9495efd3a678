// Places for workers: how many more may be started now, over all runs of this server, for one agent, and in the memory
// that is left.

export interface SlotLimits {
  /** Workers at the same time over all runs. */
  maxWorkers: number;
  /** Workers at the same time for an agent, by the name that comes before a colon, e.g. `claude`. */
  perAgent?: Readonly<Record<string, number>>;
  /** Memory that one worker is expected to need, and how much there is; without both, memory is not looked at. */
  memoryPerWorker?: number;
  freeMemory?: () => number;
}

/** One entry for each worker that is active, over all runs: its agent, and since when it runs. */
export type ActiveAgents = () => { agent: string; since: number }[];

/** So long a worker has not taken the memory that it will need. */
const YOUNG_MS = 20_000;

export const agentKind = (agent: string): string => agent.split(":", 1)[0]!;

export class Slots {
  readonly #limits: SlotLimits;
  readonly #active: ActiveAgents;
  readonly #now: () => number;
  readonly #reserved: string[] = [];

  constructor(limits: SlotLimits, active: ActiveAgents, now: () => number) {
    this.#limits = limits;
    this.#active = active;
    this.#now = now;
  }

  /** How many workers of this agent may be started now. */
  free(agent: string): number {
    const known = this.#active();
    const active = [...known.map((worker) => worker.agent), ...this.#reserved];
    const { maxWorkers, perAgent = {} } = this.#limits;
    const kind = agentKind(agent);
    const ofKind = active.filter((each) => agentKind(each) === kind).length;
    const cap = Object.hasOwn(perAgent, kind) ? perAgent[kind]! : Number.POSITIVE_INFINITY;
    const young = known.filter(({ since }) => this.#now() - since < YOUNG_MS).length + this.#reserved.length;
    return Math.max(0, Math.min(maxWorkers - active.length, cap - ofKind, this.#byMemory(active.length, young)));
  }

  /** Where nothing runs, one is started whatever is free: waiting would not make room. */
  #byMemory(active: number, young: number): number {
    const { memoryPerWorker, freeMemory } = this.#limits;
    if (memoryPerWorker === undefined || freeMemory === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(active === 0 ? 1 : 0, Math.floor(freeMemory() / memoryPerWorker) - young);
  }

  /** Held between the decision to start workers and the moment when the log shows them. */
  reserve(agent: string, count: number): void {
    for (let i = 0; i < count; i++) this.#reserved.push(agent);
  }

  release(agent: string, count: number): void {
    for (let i = 0; i < count; i++) this.#reserved.splice(this.#reserved.indexOf(agent), 1);
  }
}
