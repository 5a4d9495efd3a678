// One run as its durable log tells it: the fold, and beside it what the checks remember themselves, so that a rule is not
// only held against its own bookkeeping.
import { apply } from "../../../src/run/apply.ts";
import type { StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";

export interface Attempt {
  sessionId: string;
  taskId: string;
  number: number;
  startedAt: number | null;
  /** Virtual time in which its clock ran; it stands still while the attempt is paused or waits for a person. */
  ranMs: number;
  runsSince: number | null;
  paused: boolean;
  questions: Set<string>;
  /** The clock was set while this one stood still, which the rules count twice: such an attempt is not held to its time. */
  unsure: boolean;
}

export class Ledger {
  run: Run | null = null;
  runSeq = 0;
  /** Attempts that are open, by task. */
  readonly active = new Map<string, Attempt>();
  readonly completed = new Map<string, string>();
  readonly ended = new Set<string>();
  /** By task: retries, and what the newest one promised. */
  readonly retries = new Map<string, number>();
  readonly notBefore = new Map<string, number>();
  readonly lastFailure = new Map<string, string>();
  readonly losses = new Map<string, number>();
  readonly sessions = new Set<string>();
  readonly turns = new Set<string>();
  readonly hooks = new Set<string>();
  readonly merged = new Set<string>();
  lastStart: number | null = null;
  turnCount = 0;
  /** Turns that had begun before the batch at hand. */
  turnsBefore = 0;
  sessionCount = 0;
  usd = 0;
  tokens = 0;

  /** One more event; returns the run before it. */
  take(event: StoredEvent): Run | null {
    const before = this.run;
    this.run = apply(this.run, event);
    this.runSeq = event.runSeq;
    return before;
  }
}
