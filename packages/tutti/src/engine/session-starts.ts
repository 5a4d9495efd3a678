// `SessionStarts` starts the main session and the tasks of one run in free slots, which it reserves meanwhile.
import type { FollowUps, RunWriter } from "./run-writer.ts";
import type { Asker, Slots } from "./slots.ts";
import { workerOf, taskOf } from "../run/lookup.ts";
import { providerOf } from "../run/provider/provider-name.ts";
import { askedMain } from "../run/provider/provider.ts";
import { mainAgent, workerAgent, workerAgents } from "../run/rules/assign-agent.ts";
import type { Limits } from "../run/schedule.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

interface SessionStartsOptions {
  writer: RunWriter;
  slots: Slots;
  /** Called when a reserved slot is freed unused. */
  onSlotFreed(): void;
}

export class SessionStarts {
  readonly #options: SessionStartsOptions;

  constructor(options: SessionStartsOptions) {
    this.#options = options;
  }

  /** `next` is a state about to be stored; see `ActiveAgents`. */
  limits(run: Run, next?: Run): Limits {
    const { slots } = this.#options;
    const toAsker = (agent: string): Asker => askerOf(run, agent);
    let free: ReturnType<Slots["counted"]> | null = null;
    return {
      freeSlots: Number.POSITIVE_INFINITY,
      hasSlot: (agent, chosen) => (free ??= slots.counted(next))(toAsker(agent), chosen.map(toAsker)) > 0,
    };
  }

  /** When the providers of the sessions that the run would start stop refusing; null if none refuses. */
  opensAt(run: Run, wantsMain: boolean): number | null {
    const { slots } = this.#options;
    if (wantsMain) return slots.opensAt(askerOfMain(run));
    const times = workerAgents(run).map((agent) => slots.opensAt(askerOf(run, agent)));
    return times.reduce<number | null>(earliest, null);
  }

  /** The commands that start `taskIds` within the append of `next`. */
  followUps(next: Run, taskIds: readonly string[]): FollowUps {
    const release = this.#reserve(taskIds.map((taskId) => askerOfTask(next, taskId)));
    return {
      commands: taskIds.map((taskId) => ({ type: "spawn", taskId })),
      done: (stored) => {
        release();
        // Deferred (`queueMicrotask`), because the registry counts the other workers of this append only once it is
        // published.
        const isFreed = stored && taskIds.some((taskId) => !this.#isActive(taskId));
        if (isFreed) queueMicrotask(() => this.#options.onSlotFreed());
      },
    };
  }

  /** Returns a function that releases the slots. */
  #reserve(askers: readonly Asker[]): () => void {
    const releases = askers.map((asker) => this.#options.slots.reserve(asker));
    return () => {
      for (const release of releases) release();
    };
  }

  /** Several runs look when the wait for a provider ends; `holdMain` lets only one of them send a turn. */
  async startMain(): Promise<void> {
    const { writer, slots } = this.#options;
    const previous = writer.run;
    if (slots.opensAt(askerOfMain(previous)) !== null) return;
    const release = slots.holdMain(askerOfMain(previous));
    try {
      await writer.submit({ type: "spawnMain" });
    } finally {
      release();
    }
    // Other runs saw the slot as held and get no event that it is free.
    if (writer.run !== previous && askedMain(writer.run) === null) this.#options.onSlotFreed();
  }

  async startTasks(taskIds: readonly string[]): Promise<void> {
    const { writer, slots } = this.#options;
    const { run } = writer;
    const started: string[] = [];
    const askers: Asker[] = [];
    for (const taskId of taskIds) {
      const asker = askerOfTask(run, taskId);
      if (slots.free(asker, undefined, askers) === 0) continue;
      started.push(taskId);
      askers.push(asker);
    }
    // Other runs call `free` before the log shows these workers.
    const release = this.#reserve(askers);
    try {
      await Promise.all(started.map((taskId) => writer.submit({ type: "spawn", taskId })));
    } finally {
      release();
    }
    // Other runs saw these slots as taken and get no event that they are free.
    if (started.some((taskId) => !this.#isActive(taskId))) this.#options.onSlotFreed();
  }

  #isActive(taskId: string): boolean {
    const { run } = this.#options.writer;
    const worker = workerOf(run, taskId);
    return !isRunOver(run.status) && worker !== undefined && worker.session.state !== "over";
  }
}

const askerOfMain = (run: Run): Asker => askerOf(run, mainAgent(run).agent);
const askerOfTask = (run: Run, taskId: string): Asker => askerOf(run, workerAgent(run, taskOf(run, taskId)!).agent);
const askerOf = (run: Run, agent: string): Asker => ({ agent, provider: providerOf(agent, run.providers) });

export const earliest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);
