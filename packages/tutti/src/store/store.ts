// Durable events: the only thing Tutti must never lose.
//
// Invariants, which the conformance suite shows for every implementation
// 1. An append that has been acknowledged is on disk and is read back after any crash.
// 2. An append that was refused or has failed has stored nothing.
// 3. `seq` counts 1, 2, 3 … over the whole store, `runSeq` within each run, without gap, repeat or reordering.
// 4. An append names the place it expects in its run; somebody else's write in between makes it fail.
// 5. Opening the store begins a new epoch; from then on a store opened earlier can write nothing more.
// 6. Nothing is ever taken out of the sequence: what is removed leaves its place behind, empty.
import { TuttiError } from "../schema/error.ts";
import type { RunEvent, StoredEvent } from "../schema/event.ts";

export type NewEvent = RunEvent & { timestamp: number };

export interface ReadOptions {
  /** Only this run's; null for the server's own log. */
  run?: string | null;
  /** Only events after this `seq`; with `run`, after this `seq` too. */
  after?: number;
  /** Only events before this `seq`; `limit` then takes the last of them, in ascending order as ever. */
  before?: number;
  limit?: number;
}

export interface LogReader {
  read(options: ReadOptions): StoredEvent[];
  /** Every run of the store, oldest first. */
  runs(): string[];
  /** The last `seq`, 0 for an empty store. */
  lastSeq(): number;
}

export interface Store extends LogReader {
  readonly epoch: number;
  /** Appends in one transaction. `expected` is the run's last `runSeq`, 0 for a new run; `run` null is the server's own log. */
  append(run: string | null, expected: number, events: readonly NewEvent[]): Promise<StoredEvent[]>;
  /**
   * Takes a run out of the log for good, in one transaction. Each of its events keeps its `seq` and loses everything else:
   * it reads as `log:removed` with data {}, run null, runSeq 0, and the marker's timestamp. Who reads the whole log finds
   * it in its place; who reads the run finds nothing, `runs` does not list it, and the next append for its id begins
   * anew at runSeq 1. A run that is not there is removed already.
   */
  remove(run: string, marker: { timestamp: number }): Promise<void>;
  /** Writes what is pending, then gives the file free. */
  close(): Promise<void>;
}

/** What is left of an event that was removed. */
export const removedEvent = (seq: number, timestamp: number): StoredEvent => ({
  type: "log:removed",
  data: {},
  timestamp,
  seq,
  run: null,
  runSeq: 0,
});

/** The answer to an append whose run is not where its writer believed it to be. */
export const outOfPlace = (run: string, expected: number): TuttiError =>
  new TuttiError("append_conflict", `run ${run || "of the server"} has moved on from event ${expected}`);
