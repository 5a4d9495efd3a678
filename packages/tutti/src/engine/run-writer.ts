// The only code that changes a run.
//
// Invariants
// 1. Commands are decided in order; commands that wait together share one append.
// 2. The state is replaced, and `published` called, only after the store has acknowledged the append.
import { guarded } from "./guarded.ts";
import type { Command } from "../run/command.ts";
import { decideStep } from "../run/decide.ts";
import { TuttiError } from "../schema/error.ts";
import { isInformational, type StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { NewEvent, Store } from "../store/store.ts";
import type { World } from "../world.ts";

/** Microtasks that an attendant needs from a stored start to the report that its session is ready. */
const STEPS_TO_SETTLE = 32;

interface PendingCommand {
  command: Command;
  resolve(run: Run): void;
  reject(error: unknown): void;
}

export interface FollowUps {
  commands: Command[];
  /** Called when the commands are stored, or when the append has failed. */
  done(stored: boolean): void;
}

export interface RunWriterOptions {
  id: string;
  run: Run | null;
  store: Store;
  world: World;
  /** Called with the events of an append, before its callers are answered. */
  published(events: StoredEvent[], run: Run, previous: Run | null): void;
  /** Called when the store has failed. The state is unchanged, and the writer appends nothing more. */
  failed(error: unknown): void;
  /** Returns commands that follow from `run`, a state about to be stored; they share its append. */
  followUps(run: Run): FollowUps | null;
  /** Called before a command is queued or decided, so that a clock jump is compensated first. */
  lookAtClock(): void;
}

export class RunWriter {
  readonly id: string;
  readonly #options: RunWriterOptions;
  #run: Run | null;
  #waiting: PendingCommand[] = [];
  #halted: TuttiError | null = null;
  #refusal: TuttiError | null = null;
  #draining = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(options: RunWriterOptions) {
    this.id = options.id;
    this.#options = options;
    this.#run = options.run;
  }

  get run(): Run {
    if (this.#run === null) throw new Error(`Run "${this.id}" has no event yet.`);
    return this.#run;
  }

  /** Resolves with the run after the command, once it is durable. Rejects with the refusal or the store's error. */
  submit(command: Command): Promise<Run> {
    const refusal = this.#halted ?? this.#refusal;
    if (refusal) return Promise.reject(refusal);
    if (command.type !== "clockJumped") this.#options.lookAtClock();
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    const waiting = { command, resolve, reject };
    // The lost time must be given back before the clock decides any other command.
    if (command.type === "clockJumped") this.#waiting.unshift(waiting);
    else this.#waiting.push(waiting);
    if (!this.#draining) this.#drained = this.#drain();
    return promise;
  }

  /** Rejects every command from now on: a log that missed one event must not get the next. */
  halt(error: TuttiError): void {
    this.#halted ??= error;
  }

  /** Rejects new commands until `refuse(null)`; queued commands are still written. */
  refuse(refusal: TuttiError | null): void {
    this.#refusal = refusal;
  }

  /** Whether nothing is being written. Check it again after `idle`: another waiter may have submitted first. */
  get isIdle(): boolean {
    return !this.#draining;
  }

  async idle(): Promise<void> {
    await this.#drained;
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    // Commands submitted in the same microtask share one append.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      // Effects of the last append submit more commands within a few microtasks, which cost less than an append each.
      for (let step = 0; step < STEPS_TO_SETTLE; step++) await Promise.resolve();
      // The clock may have been set while `#waiting` filled.
      this.#options.lookAtClock();
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#write(batch);
    }
    // Reset in the same microtask as the last check of the queue, so that no command is missed.
    this.#draining = false;
  }

  async #write(batch: PendingCommand[]): Promise<void> {
    const { store, world } = this.#options;
    const at = world.now();
    const refusals = new Map<PendingCommand, unknown>();
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
    const previous = this.#run;
    const followUps = events.every(({ type }) => isInformational(type)) ? null : this.#options.followUps(next!);
    for (const command of followUps?.commands ?? []) {
      // The reconciler submits a refused command again at its next look.
      guarded(() => {
        const step = decideStep(next, command, at);
        for (const event of step.events) events.push({ ...event, timestamp: at });
        next = step.run;
      });
    }
    let stored: StoredEvent[] = [];
    try {
      if (this.#halted) throw this.#halted;
      if (events.length > 0) stored = await store.append(this.id, previous?.runSeq ?? 0, events);
    } catch (error) {
      followUps?.done(false);
      if (error instanceof TuttiError && error.code === "not_encodable") return this.#writeAlone(batch, error);
      for (const waiting of batch) waiting.reject(error);
      // `halt` was called; the store has not failed here.
      if (error !== this.#halted) this.#options.failed(error);
      return;
    }
    this.#run = next;
    followUps?.done(true);
    // The events are on disk, so an exception in `published` must not count as a failed write.
    if (stored.length > 0) guarded(() => this.#options.published(stored, next!, previous));
    for (const waiting of batch) {
      if (refusals.has(waiting)) waiting.reject(refusals.get(waiting));
      else waiting.resolve(next!);
    }
  }

  /** Repeats the commands of `batch` one by one, so that only the command whose events cannot be encoded is rejected. */
  async #writeAlone(batch: PendingCommand[], error: TuttiError): Promise<void> {
    if (batch.length === 1) return batch[0]!.reject(error);
    for (const waiting of batch) await this.#write([waiting]);
  }
}
