// The durable event log, the only data that Tutti must never lose.
//
// Invariants, which the conformance suite checks for every implementation
// 1. An acknowledged append is on disk and is read back after any crash.
// 2. A rejected append has stored nothing. `not_encodable` means that the events are at fault, not the store.
// 3. `seq` counts 1, 2, 3 … over the whole store and `runSeq` within each run, without gap, repeat or reordering.
// 4. An append names the run's last `runSeq`. It fails if another write came first.
// 5. Opening a store begins a new epoch. A store opened earlier can no longer write.
// 6. Nothing leaves the sequence: a removed event stays as an empty entry.
import { TuttiError } from "../schema/error.ts";
import type { RawEvent, RunEvent, StoredEvent } from "../schema/event.ts";

export type NewEvent = RunEvent & { timestamp: number };

/** Events to append, or a function that returns them. */
export type EventBatch = readonly NewEvent[] | (() => readonly NewEvent[]);

export const eventsOf = (batch: EventBatch): readonly NewEvent[] => (typeof batch === "function" ? batch() : batch);

export interface EventQuery {
  /** Restricts to one run. Null selects the server's own log. */
  run?: string | null;
  /** Only events with a greater `seq`, also with `run`. */
  after?: number;
  /** Only events with a smaller `seq`. `limit` then selects the last of them, still in ascending order. */
  before?: number;
  limit?: number;
  /** Ends the list with the event that brings the encoded data to this size, so a list has at least one event. */
  maxBytes?: number;
}

export interface LogReader {
  read(options: EventQuery): StoredEvent[];
  readRaw(options: EventQuery): RawEvent[];
  runs(): string[];
  /** `lastSeq` is 0 for an empty store. */
  lastSeq(): number;
}

export interface LogFollower {
  /** Receives events of other servers, in the order of the log, before any later `append` of this server resolves. */
  appended(events: readonly StoredEvent[]): void;
  removed(run: string): void;
  /** This server has taken over `runs` of a server that is gone. */
  gained(runs: readonly string[]): void;
  /** Another server has taken over `runs` of this one. */
  lost(runs: readonly string[]): void;
}

/** The part of a `Store` that several servers share. Each run belongs to one of them, which alone may append to it. */
export interface SharedLog {
  owns(run: string): boolean;
  /** Calls `follower` from now on. It has read everything up to `lastSeq` already. */
  follow(follower: LogFollower): void;
}

export interface Store extends LogReader {
  readonly epoch: number;
  /** `shared` is set if other servers write to the store too. */
  readonly shared?: SharedLog;
  /**
   * Appends in one transaction. `expected` is the run's last `runSeq`, 0 for a new run. A null `run` is the server's
   * log. The function of a `EventBatch` is called when the transaction begins and must not throw. An append without events
   * stores nothing.
   */
  append(run: string | null, expected: number, events: EventBatch): Promise<StoredEvent[]>;
  /**
   * Removes a run's events for good, in one transaction. Each event keeps its `seq` and reads as `log:removed` with
   * data {}, run null, runSeq 0 and the marker's timestamp. Reading the run returns nothing, `runs` omits it, and the
   * next append for its id starts at runSeq 1. Removing an unknown run has no effect.
   */
  remove(run: string, marker: { timestamp: number }): Promise<void>;
  /** Writes pending events, then closes the file. */
  close(): Promise<void>;
}

export const REMOVED = "log:removed";

export const removedEvent = (seq: number, timestamp: number): StoredEvent => ({
  type: REMOVED,
  data: {},
  timestamp,
  seq,
  run: null,
  runSeq: 0,
});

/** `notEncodable` is for events that have no JSON form, such as a value nested thousands of levels deep. */
export const notEncodable = (cause: unknown): TuttiError =>
  new TuttiError(
    "not_encodable",
    `The events cannot be encoded: ${(cause as Error).message}. Send values that are smaller or nested less deeply.`,
    { cause },
  );

/** Returns the error instead of throwing it: `append` may share its transaction with others. */
export function encodeData(events: readonly NewEvent[]): string[] | TuttiError {
  try {
    return events.map(({ data }) => JSON.stringify(data));
  } catch (error) {
    return notEncodable(error);
  }
}

/** The append does not name the run's last `runSeq` as `expected`. */
export const outOfPlace = (run: string, expected: number): TuttiError =>
  new TuttiError(
    "append_conflict",
    `${run ? `Run "${run}"` : "The server's log"} has changed since event ${expected}. Read it again and retry.`,
  );

export const staleEpoch = (): TuttiError =>
  new TuttiError(
    "stale_epoch",
    "Another process has taken over this data folder. Stop that process, then start this one again.",
  );

export const storeClosed = (): TuttiError =>
  new TuttiError("engine_stopped", "The store is closed. Start a new engine.");
