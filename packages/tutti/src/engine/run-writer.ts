// The one place where a run changes. Commands are taken in order; those that wait together are decided one after the
// other and stored in one append. Nobody sees a state that is not on disk: the state is replaced, and listeners are told,
// only after the append has been acknowledged.
import { guarded } from "./guarded.ts";
import type { Command } from "../run/command.ts";
import { decideStep } from "../run/decide.ts";
import type { TuttiError } from "../schema/error.ts";
import { onlyTells, type StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { NewEvent, Store } from "../store/store.ts";
import type { World } from "../world.ts";

/** Within so many steps of promises an attendant comes from a stored start to the report that its session is ready. */
const STEPS_TO_SETTLE = 32;

interface Waiting {
  command: Command;
  resolve(run: Run): void;
  reject(error: unknown): void;
}

export interface CalledFor {
  commands: Command[];
  /** To be called when they are stored, or will never be. */
  done(stored: boolean): void;
}

export interface RunWriterOptions {
  id: string;
  run: Run | null;
  store: Store;
  world: World;
  /** Called with what has just become durable, before those who asked for it are answered. */
  published(events: StoredEvent[], run: Run, before: Run | null): void;
  /** The store has failed; nothing was changed, and nothing more will be written. */
  failed(error: unknown): void;
  /** What a state that is about to be stored calls for at once; it is decided and stored with it. */
  calledFor(run: Run): CalledFor | null;
  /** To be called before a command is taken: what begins after a jump of the clock must not be counted as before it. */
  lookAtClock(): void;
}

export class RunWriter {
  readonly id: string;
  readonly #options: RunWriterOptions;
  #run: Run | null;
  #waiting: Waiting[] = [];
  #halted: TuttiError | null = null;
  #refusal: TuttiError | null = null;
  #draining = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(options: RunWriterOptions) {
    this.id = options.id;
    this.#options = options;
    this.#run = options.run;
  }

  /** The run as it is on disk. */
  get run(): Run {
    if (this.#run === null) throw new Error(`run ${this.id} has no first event yet`);
    return this.#run;
  }

  /** Resolves with the run after the command, once that is durable; rejects with the refusal or the store's failure. */
  submit(command: Command): Promise<Run> {
    const refusal = this.#halted ?? this.#refusal;
    if (refusal) return Promise.reject(refusal);
    if (command.type !== "clockJumped") this.#options.lookAtClock();
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    const waiting = { command, resolve, reject };
    // Time that nobody could use is given back before anything is judged by the clock.
    if (command.type === "clockJumped") this.#waiting.unshift(waiting);
    else this.#waiting.push(waiting);
    if (!this.#draining) this.#drained = this.#drain();
    return promise;
  }

  /** From now on nothing is written: a log that missed one event must not get the next. */
  halt(error: TuttiError): void {
    this.#halted ??= error;
  }

  /** Until further notice every command is refused; what was taken before is still written. */
  refuse(refusal: TuttiError | null): void {
    this.#refusal = refusal;
  }

  /** Whether nothing is being written, at this moment: whoever waited with others may not be the first to come. */
  get isIdle(): boolean {
    return !this.#draining;
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#drained;
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    // Let everything that arrives in this turn of the loop share one append.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      // What the last append has set off asks for more within a few steps of promises, and they cost less than an append
      // each.
      for (let step = 0; step < STEPS_TO_SETTLE; step++) await Promise.resolve();
      // The clock may have been set since these commands came; what is judged next is judged by the time of now.
      this.#options.lookAtClock();
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#write(batch);
    }
    // In the same step as the last look at the queue, so that nothing can arrive unseen in between.
    this.#draining = false;
  }

  async #write(batch: Waiting[]): Promise<void> {
    const { store, world } = this.#options;
    const at = world.now();
    const refusals = new Map<Waiting, unknown>();
    const events: NewEvent[] = [];
    let next = this.#run;
    for (const waiting of batch) {
      try {
        const step = decideStep(next, waiting.command, at);
        for (const event of step.events) events.push({ ...event, timestamp: at });
        next = step.run;
      } catch (refusal) {
        refusals.set(waiting, refusal);
      }
    }
    const before = this.#run;
    const calledFor = events.every(({ type }) => onlyTells(type)) ? null : this.#options.calledFor(next!);
    for (const command of calledFor?.commands ?? []) {
      // What is refused now is asked for again when everybody looks.
      guarded(() => {
        const step = decideStep(next, command, at);
        for (const event of step.events) events.push({ ...event, timestamp: at });
        next = step.run;
      });
    }
    let stored: StoredEvent[] = [];
    try {
      if (this.#halted) throw this.#halted;
      if (events.length > 0) stored = await store.append(this.id, before?.runSeq ?? 0, events);
    } catch (error) {
      calledFor?.done(false);
      for (const waiting of batch) waiting.reject(error);
      // A writer that was told to stop has not failed.
      if (error !== this.#halted) this.#options.failed(error);
      return;
    }
    this.#run = next;
    calledFor?.done(true);
    // Only what the store could not do is a failure. What is on disk has happened, whatever its listeners make of it.
    if (stored.length > 0) guarded(() => this.#options.published(stored, next!, before));
    for (const waiting of batch) {
      if (refusals.has(waiting)) waiting.reject(refusals.get(waiting));
      else waiting.resolve(next!);
    }
  }
}
