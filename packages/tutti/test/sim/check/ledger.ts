// One run according to its durable log: the fold, and independent bookkeeping of the checks, so that a rule is not only
// compared with itself.
import type { Wait } from "./provider-checks.ts";
import { TeamBook } from "./team-checks.ts";
import { apply } from "../../../src/run/apply.ts";
import type { Ending } from "../../../src/schema/ending.ts";
import type { StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";

export interface Attempt {
  sessionId: string;
  taskId: string;
  number: number;
  startedAt: number | null;
  /** Loop time during which its clock ran. The clock stops while the attempt is `paused` or waits for the user. */
  ranMs: number;
  runsSince: number | null;
  paused: boolean;
  /** Set by a refusal of its provider, cleared by `turn:started`. */
  putOff: boolean;
  questions: Set<string>;
  /** An attempt that waits for delegated tasks takes no slot, and may go on without one. */
  hasDelegated: boolean;
  /**
   * The clock was set while this attempt's clock was stopped, which the rules count twice. Its timeout is not checked.
   */
  unsure: boolean;
  /** `seq` of its `worker:spawning` event. `about` describes the work, once its session exists. */
  seq: number;
  about?: string;
}

export class Ledger {
  run: Run | null = null;
  runSeq = 0;
  readonly team = new TeamBook();
  readonly active = new Map<string, Attempt>();
  readonly completed = new Map<string, string>();
  readonly ended = new Set<string>();
  /** Tasks whose work was rejected by the merge queue, until their next attempt starts. */
  readonly sentBack = new Set<string>();
  /** By task. `notBefore` is the earliest start that the latest retry allows. */
  readonly retries = new Map<string, number>();
  readonly notBefore = new Map<string, number>();
  readonly lastFailure = new Map<string, string>();
  readonly losses = new Map<string, number>();
  readonly sessions = new Set<string>();
  readonly turns = new Set<string>();
  readonly hooks = new Set<string>();
  readonly merged = new Set<string>();
  /** Commits that were merged with a conflict. A dependent without work of its own has the same commit. */
  readonly conflicted = new Set<string>();
  readonly anew = new Set<string>();
  readonly takenOver = new Set<string>();
  /** By session: its provider, and the try that the provider refused. */
  readonly providers = new Map<string, string>();
  readonly putOff = new Map<string, number>();
  readonly waits = new Map<string, Wait>();
  /** By session and turn number: the `runSeq` of the start, and the try. */
  readonly begun = new Map<string, { runSeq: number; try: number }>();
  lastTurn = "";
  ending: Ending | null = null;
  /** The latest usage limit: its inbox item, and the ending of the turn that reached it. */
  limit: { itemId: string; ending: Ending | null } | null = null;
  autoResumes = 0;
  /** A session whose next turn nothing blocks, and since when (loop time). */
  forgotten: { sessionId: string; since: number } | null = null;
  lastStart: number | null = null;
  turnCount = 0;
  /** Value of `turnCount` before the current batch. */
  turnsBefore = 0;
  sessionCount = 0;
  usd = 0;
  tokens = 0;

  /** The number of attempts that take a slot. */
  get busy(): number {
    return [...this.active.values()].filter(({ hasDelegated }) => !hasDelegated).length;
  }

  take(event: StoredEvent): Run | null {
    const before = this.run;
    this.run = apply(this.run, event);
    this.runSeq = event.runSeq;
    return before;
  }
}
