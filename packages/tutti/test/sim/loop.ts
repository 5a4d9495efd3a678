// The simulation's only event loop. Everything that takes time is an item with a virtual due time. One item runs at a
// time, and all promises that it settles run before the next item.
//
// Invariants
// 1. Only `barrier` waits for real time, so the seed alone decides the order of items.
// 2. A dead engine's pending items never run: `drop` removes them.
import type { Random } from "./random.ts";

/** The engine to which an item belongs, or `WORLD` for everything that outlives engines. */
export type Owner = number;
export const WORLD: Owner = 0;

export interface Item {
  due: number;
  owner: Owner;
  label: string;
  run(): void;
  /** May run instead of `run` if the owner dies first. */
  late?: (() => void) | undefined;
}

export class Loop {
  now = 0;
  steps = 0;
  readonly log: string[] = [];
  readonly #pick: Random;
  #pending: Item[] = [];
  readonly #dead = new Set<Owner>();

  constructor(pick: Random) {
    this.#pick = pick;
  }

  note(line: string): void {
    this.log.push(`${this.steps} ${this.now} ${line}`);
  }

  at(delay: number, owner: Owner, label: string, run: () => void, late?: () => void): Item {
    const item = { due: this.now + delay, owner, label, run, late };
    if (!this.#dead.has(owner)) this.#pending.push(item);
    return item;
  }

  cancel(item: Item): void {
    const index = this.#pending.indexOf(item);
    if (index !== -1) this.#pending.splice(index, 1);
  }

  /** Removes and returns the owner's pending items. Later items of this owner are ignored. */
  drop(owner: Owner): Item[] {
    this.#dead.add(owner);
    const dropped = this.#pending.filter((item) => item.owner === owner);
    this.#pending = this.#pending.filter((item) => item.owner !== owner);
    return dropped;
  }

  /** Suspends the machine: `now` advances, and the world's pending items are postponed by `byMs`. */
  suspend(byMs: number): void {
    this.now += byMs;
    for (const item of this.#pending) if (item.owner === WORLD) item.due += byMs;
  }

  /** Returns false if no item is pending. */
  async step(): Promise<boolean> {
    const item = this.#next();
    if (!item) return false;
    this.steps++;
    this.now = Math.max(this.now, item.due);
    this.note(item.label);
    item.run();
    await barrier();
    return true;
  }

  #next(): Item | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const { due } of this.#pending) if (due < first) first = due;
    const moment = Math.max(first, this.now);
    const due: number[] = [];
    for (const [index, item] of this.#pending.entries()) if (item.due <= moment) due.push(index);
    if (due.length === 0) return undefined;
    const [item] = this.#pending.splice(due.length === 1 ? due[0]! : this.#pick.pick(due), 1);
    return item;
  }
}

/** Resolves after all pending microtasks. No timer of the engine is real. */
const barrier = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
