// `RunWriter` is the only code that changes a run.
//
// Invariants
// 1. Commands are decided in order, when the store begins to write; commands that wait together share one append.
// 2. The state is replaced, and `published` called, only after the store has acknowledged the append.
import { guarded } from "./guarded.ts";
import type { Command } from "../run/command.ts";
import { decideStep } from "../run/decide.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { isInformational, type StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { NewEvent, Store } from "../store/store.ts";
import type { World } from "../world.ts";

interface PendingCommand {
  command: Command;
  resolve(run: Run): void;
  reject(error: unknown): void;
}

interface CommandBatch {
  commands: PendingCommand[];
  refusals: Map<PendingCommand, unknown>;
  events: NewEvent[];
  run: Run | null;
  followUps: FollowUps | null;
}

export interface FollowUps {
  commands: Command[];
  /** Called when the commands are stored, or when the append has failed. */
  done(stored: boolean): void;
}

interface RunWriterOptions {
  id: string;
  run: Run | null;
  store: Store;
  world: World;
  /** Called with the events of an append before `submit` resolves. */
  published(events: StoredEvent[], run: Run, previous: Run | null): void;
  /** Called when the store has failed. The state is unchanged, and the `RunWriter` appends nothing more. */
  failed(error: unknown): void;
  /** Returns commands that follow from `run`, a state about to be stored; they share its append. */
  followUps(run: Run): FollowUps | null;
  /** Replaces the secrets in the texts of `command` by placeholders; called once, before the command is queued. */
  seal(command: Command): Command;
  /** Lets a `clockJumped` command be queued before the clock decides another one. */
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

  /**
   * Resolves with the state once the events of `command` are durable. Rejects with the refusal or the store's error.
   */
  submit(command: Command): Promise<Run> {
    const refusal = this.#halted ?? this.#refusal;
    if (refusal) return Promise.reject(refusal);
    if (command.type !== "clockJumped") this.#options.lookAtClock();
    let sealed: Command;
    try {
      sealed = this.#options.seal(command);
    } catch (error) {
      return Promise.reject(asTuttiError(error));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    const waiting = { command: sealed, resolve, reject };
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
    // Commands of the same microtask share one append, also in a store that calls `#decide` at once.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      await this.#write(() => {
        // The clock may have been set while `#waiting` filled.
        this.#options.lookAtClock();
        return this.#takeWaiting();
      });
    }
    // Reset in the same microtask as the last check of the queue, so that no command is missed.
    this.#draining = false;
  }

  /** `take` is called when the store's transaction begins, which closes the batch; later commands form the next one. */
  async #write(take: () => PendingCommand[]): Promise<void> {
    const previous = this.#run;
    const batch: CommandBatch = { commands: [], refusals: new Map(), events: [], run: previous, followUps: null };
    let stored: StoredEvent[] = [];
    try {
      if (this.#halted) throw this.#halted;
      stored = await this.#options.store.append(this.id, previous?.runSeq ?? 0, () => this.#decide(batch, take()));
    } catch (error) {
      batch.followUps?.done(false);
      // A store that fails before its transaction begins has not called `take`.
      if (batch.commands.length === 0) batch.commands = take();
      if (error instanceof TuttiError && error.code === "not_encodable") {
        return this.#writeAlone(batch.commands, error);
      }
      for (const waiting of batch.commands) waiting.reject(error);
      // `halt` was called, so `error` is not a failure of the store.
      if (error !== this.#halted) this.#options.failed(error);
      return;
    }
    const { commands, refusals, run, followUps } = batch;
    this.#run = run;
    followUps?.done(true);
    // The events are on disk, so an exception in `published` must not count as a failed write.
    if (stored.length > 0) guarded(() => this.#options.published(stored, run!, previous));
    for (const waiting of commands) {
      if (refusals.has(waiting)) waiting.reject(refusals.get(waiting));
      else waiting.resolve(run!);
    }
  }

  /** Repeats `commands` one by one, so that only the one with events that cannot be encoded is rejected. */
  async #writeAlone(commands: PendingCommand[], error: TuttiError): Promise<void> {
    if (commands.length === 1) return commands[0]!.reject(error);
    for (const waiting of commands) await this.#write(() => [waiting]);
  }

  #takeWaiting(): PendingCommand[] {
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }

  /** Fills `batch` with the events of `commands` and of `followUps`, and returns the events. */
  #decide(batch: CommandBatch, commands: PendingCommand[]): NewEvent[] {
    batch.commands = commands;
    const at = this.#options.world.now();
    const decide = (command: Command): void => {
      const { events, run } = decideStep(batch.run, command, at);
      for (const event of events) batch.events.push({ ...event, timestamp: at });
      batch.run = run;
    };
    for (const waiting of commands) {
      try {
        if (this.#halted) throw this.#halted;
        decide(waiting.command);
      } catch (refusal) {
        batch.refusals.set(waiting, refusal);
      }
    }
    if (batch.events.every(({ type }) => isInformational(type))) return batch.events;
    batch.followUps = this.#options.followUps(batch.run!);
    // The `Reconciler` submits a refused command again at its next look.
    for (const command of batch.followUps?.commands ?? []) guarded(() => decide(command));
    return batch.events;
  }
}
