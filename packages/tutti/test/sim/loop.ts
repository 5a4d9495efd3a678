// The one event loop of the simulation. Everything that takes time is an item with a virtual moment; one item runs at a
// time, and before the next one everything that followed from it in promises has come to rest.
//
// Invariants
// 1. Nothing real is ever waited for but the barrier, so the order of items is the seed's alone.
// 2. What a dead engine was waiting for never comes: its items are dropped with it.
import type { Random } from "./random.ts";

/** Whose work an item is: the number of an engine, or 0 for the world that outlives engines. */
export type Owner = number;
export const WORLD: Owner = 0;

export interface Item {
  due: number;
  owner: Owner;
  label: string;
  run(): void;
  /** What may still happen if the owner dies before the item runs. */
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

  /** Everything that an owner still waited for. It will not happen, and nothing more is done for it. */
  drop(owner: Owner): Item[] {
    this.#dead.add(owner);
    const dropped = this.#pending.filter((item) => item.owner === owner);
    this.#pending = this.#pending.filter((item) => item.owner !== owner);
    return dropped;
  }

  /** The whole machine stands still: the clocks go on, and what the world was doing comes that much later. */
  suspend(byMs: number): void {
    this.now += byMs;
    for (const item of this.#pending) if (item.owner === WORLD) item.due += byMs;
  }

  /** Runs one of the items that are due, or the first that will be. Returns whether there was one. */
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

/** Comes after every promise that could settle by itself: microtasks go first, and no timer of the engine is real. */
const barrier = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
