// One run as its durable log tells it: the fold, and beside it what the checks remember themselves, so that a rule is not
// only held against its own bookkeeping.
import type { Wait } from "./provider-checks.ts";
import { apply } from "../../../src/run/apply.ts";
import type { Ending } from "../../../src/schema/ending.ts";
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
  /** Its provider has refused, and it has not been asked again. */
  putOff: boolean;
  questions: Set<string>;
  /** The clock was set while this one stood still, which the rules count twice: such an attempt is not held to its time. */
  unsure: boolean;
  /** When it was wanted, in the order of all events, and what it is about, once its session is there. */
  seq: number;
  about?: string;
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
  /** Tasks that the person wants done anew. */
  readonly anew = new Set<string>();
  /** Sessions of other runs whose results stand for tasks of this one. */
  readonly takenOver = new Set<string>();
  /** By session: its provider, and the try that its provider refused. */
  readonly providers = new Map<string, string>();
  readonly putOff = new Map<string, number>();
  /** Providers that refuse. */
  readonly waits = new Map<string, Wait>();
  /** Turns by session and number: where in the log they began, and which try they are. */
  readonly begun = new Map<string, { runSeq: number; try: number }>();
  /** The newest turn that ended, and how. */
  lastTurn = "";
  ending: Ending | null = null;
  /** The newest usage limit: what was asked about it, and how the turn ended that found it. */
  limit: { itemId: string; ending: Ending | null } | null = null;
  autoResumes = 0;
  /** A session that nothing keeps from being asked, and since when, by the loop's clock. */
  forgotten: { sessionId: string; since: number } | null = null;
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
