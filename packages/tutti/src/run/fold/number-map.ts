// `NumberMap` is an immutable map with integer keys from 0 to 2³¹. A changed map shares all but a few small nodes with
// the original, so old states of a run stay valid and new ones need no full copy.
//
// It is a trie with up to `WIDTH` branches per node. A node stores only the existing branches, and the bits of its mask
// say which ones they are. Iteration is in ascending order of the keys.

const BITS = 5;
const WIDTH = 1 << BITS;

/** `slots` holds values at level 0 and nodes at the levels above. */
interface Node {
  readonly mask: number;
  readonly slots: readonly unknown[];
}

const EMPTY: Node = { mask: 0, slots: [] };

export class NumberMap<T> {
  readonly #root: Node;
  /** A trie with n levels holds the keys below 32ⁿ. */
  readonly #levels: number;
  readonly size: number;

  private constructor(root: Node, levels: number, size: number) {
    this.#root = root;
    this.#levels = levels;
    this.size = size;
  }

  static empty<T>(): NumberMap<T> {
    return new NumberMap<T>(EMPTY, 1, 0);
  }

  get(key: number): T | undefined {
    if (key >= capacity(this.#levels)) return undefined;
    let node = this.#root;
    for (let level = this.#levels - 1; ; level--) {
      const bit = bitOf(key, level);
      if ((node.mask & bit) === 0) return undefined;
      const found = node.slots[slotOf(node.mask, bit)];
      if (level === 0) return found as T;
      node = found as Node;
    }
  }

  with(key: number, value: T): NumberMap<T> {
    let root = this.#root;
    let levels = this.#levels;
    while (key >= capacity(levels)) levels++;
    root = raise(root, this.#levels, levels);
    const added = this.get(key) === undefined ? 1 : 0;
    return new NumberMap<T>(put(root, levels - 1, key, value), levels, this.size + added);
  }

  without(key: number): NumberMap<T> {
    if (this.get(key) === undefined) return this;
    return new NumberMap<T>(drop(this.#root, this.#levels - 1, key) ?? EMPTY, this.#levels, this.size - 1);
  }

  /** Calls `test` in ascending order of the keys until it returns true. */
  some(test: (value: T, key: number) => boolean): boolean {
    return someIn(this.#root, this.#levels - 1, 0, test as (value: unknown, key: number) => boolean);
  }

  values(): T[] {
    const all: T[] = [];
    this.some((value) => all.push(value) === 0);
    return all;
  }

  /** Calls `differs` for every key with different values. Skips the nodes that both maps share. */
  static compare<T>(before: NumberMap<T>, after: NumberMap<T>, differs: (was?: T, is?: T) => void): void {
    const levels = Math.max(before.#levels, after.#levels);
    const [old, young] = [raise(before.#root, before.#levels, levels), raise(after.#root, after.#levels, levels)];
    compareIn(old, young, levels - 1, differs as Differs);
  }
}

/** By number of levels, up to that of the highest key. */
const CAPACITIES = Array.from({ length: 8 }, (_, levels) => 2 ** (BITS * levels));
const capacity = (levels: number): number => CAPACITIES[levels]!;

const bitOf = (key: number, level: number): number => 1 << ((key >>> (BITS * level)) & (WIDTH - 1));

/** Returns the index of a branch in `slots`: the number of bits in `mask` below `bit`. */
function slotOf(mask: number, bit: number): number {
  let bits = mask & (bit - 1);
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function put(node: Node, level: number, key: number, value: unknown): Node {
  const bit = bitOf(key, level);
  const at = slotOf(node.mask, bit);
  const known = (node.mask & bit) !== 0;
  const slot = level === 0 ? value : put(known ? (node.slots[at] as Node) : EMPTY, level - 1, key, value);
  const slots = node.slots.slice();
  if (known) slots[at] = slot;
  else slots.splice(at, 0, slot);
  return { mask: node.mask | bit, slots };
}

/** Returns the node without `key`, or null if it becomes empty. `key` must exist. */
function drop(node: Node, level: number, key: number): Node | null {
  const bit = bitOf(key, level);
  const at = slotOf(node.mask, bit);
  const slot = level === 0 ? null : drop(node.slots[at] as Node, level - 1, key);
  const slots = node.slots.slice();
  if (slot !== null) {
    slots[at] = slot;
    return { mask: node.mask, slots };
  }
  slots.splice(at, 1);
  return slots.length === 0 ? null : { mask: node.mask & ~bit, slots };
}

function someIn(node: Node, level: number, base: number, test: (value: unknown, key: number) => boolean): boolean {
  let at = 0;
  for (let branch = 0; at < node.slots.length; branch++) {
    if ((node.mask & (1 << branch)) === 0) continue;
    const slot = node.slots[at++];
    const key = base * WIDTH + branch;
    if (level === 0 ? test(slot, key) : someIn(slot as Node, level - 1, key, test)) return true;
  }
  return false;
}

function raise(root: Node, from: number, to: number): Node {
  let raised = root;
  for (let levels = from; levels < to; levels++) raised = raised === EMPTY ? EMPTY : { mask: 1, slots: [raised] };
  return raised;
}

type Differs = (was?: unknown, is?: unknown) => void;

function compareIn(before: Node, after: Node, level: number, differs: Differs): void {
  if (before === after) return;
  const either = before.mask | after.mask;
  for (let branch = 0; branch < WIDTH; branch++) {
    const bit = 1 << branch;
    if ((either & bit) === 0) continue;
    const was = (before.mask & bit) === 0 ? undefined : before.slots[slotOf(before.mask, bit)];
    const is = (after.mask & bit) === 0 ? undefined : after.slots[slotOf(after.mask, bit)];
    if (was === is) continue;
    if (level === 0) differs(was, is);
    else compareIn((was as Node | undefined) ?? EMPTY, (is as Node | undefined) ?? EMPTY, level - 1, differs);
  }
}
