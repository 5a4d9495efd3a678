// What all parts of one simulation share: the loop, the clock, chance, what was exercised, and the first thing that was
// wrong.
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
  /** From now on nothing fails by chance, and people are helpful. */
  calm = false;
  violation: Violation | null = null;
  /** What the person has said yes to: runs whose plan may be carried out, and questions that were answered. */
  readonly confirmed = new Set<string>();
  readonly answered = new Set<string>();
  /** Items whose answer was a yes, and runs that were told to go on. */
  readonly allowed = new Set<string>();
  readonly resumed = new Set<string>();

  constructor(seed: string, bug: BugName | null) {
    this.seed = seed;
    this.#bug = bug;
    this.random = new Random(seed);
    this.loop = new Loop(this.random.fork("order"));
    this.clock = new WallClock(this.loop);
  }

  /** Whether this bug was planted. */
  has(bug: BugName): boolean {
    return this.#bug === bug;
  }

  count(what: string, by = 1): void {
    if (this.#quiet) return;
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** For what is told again: nothing in it counts, and nothing is wrong with it. */
  quietly(what: () => void): void {
    this.#quiet = true;
    try {
      what();
    } finally {
      this.#quiet = false;
    }
  }

  /** A fork wants what the run wanted that it comes from in the end. */
  parted(run: string, from: string): void {
    this.#roots.set(run, this.rootOf(from));
  }

  rootOf(run: string): string {
    return this.#roots.get(run) ?? run;
  }

  /** Only the first is kept: what comes after it may only follow from it. */
  fail(invariant: string, message: string): void {
    if (this.violation || this.#quiet) return;
    this.violation = new Violation(invariant, message);
    this.loop.note(`VIOLATION ${this.violation.message}`);
  }

  require(holds: boolean, invariant: string, message: () => string): void {
    if (!holds) this.fail(invariant, message());
  }
}
