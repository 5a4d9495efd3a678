// State that all parts of one simulation share: the loop, the clock, the random streams, the counters and the first
// violation.
import { Loop } from "./loop.ts";
import { Random } from "./random.ts";
import { WallClock } from "./sim-world.ts";
import { Violation } from "./violation.ts";
import type { BugName } from "./planted.ts";

export class Stage {
  readonly seed: string;
  readonly random: Random;
  readonly loop: Loop;
  readonly clock: WallClock;
  readonly counts = new Map<string, number>();
  readonly #bug: BugName | null;
  readonly #roots = new Map<string, string>();
  #quiet = false;
  /** From now on there are no random faults, and the user is helpful. */
  calm = false;
  violation: Violation | null = null;
  readonly confirmed = new Set<string>();
  readonly answered = new Set<string>();
  readonly allowed = new Set<string>();
  readonly resumed = new Set<string>();
  readonly overridden = new Set<string>();
  /** Roots of continuous runs whose lead has planned no further task. */
  readonly finished = new Set<string>();

  constructor(seed: string, bug: BugName | null) {
    this.seed = seed;
    this.#bug = bug;
    this.random = new Random(seed);
    this.loop = new Loop(this.random.fork("order"));
    this.clock = new WallClock(this.loop);
  }

  has(bug: BugName): boolean {
    return this.#bug === bug;
  }

  count(what: string, by = 1): void {
    if (this.#quiet) return;
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** Runs `what` on repeated history, without counters and violations. */
  quietly(work: () => void): void {
    this.#quiet = true;
    try {
      work();
    } finally {
      this.#quiet = false;
    }
  }

  parted(run: string, from: string): void {
    this.#roots.set(run, this.rootOf(from));
  }

  rootOf(run: string): string {
    return this.#roots.get(run) ?? run;
  }

  /** Keeps only the first violation, because later ones may be its consequences. */
  fail(invariant: string, message: string): void {
    if (this.violation || this.#quiet) return;
    this.violation = new Violation(invariant, message);
    this.loop.note(`VIOLATION ${this.violation.message}`);
  }

  require(holds: boolean, invariant: string, message: () => string): void {
    if (!holds) this.fail(invariant, message());
  }
}
