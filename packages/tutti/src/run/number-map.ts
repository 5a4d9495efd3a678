// A map from whole numbers (0 to 2³¹) to values that is never changed: a change gives another map, which shares all but
// a few small nodes with the first. So an old state of a run stays what it was, and a new one costs no copy of it all.
//
// It is a tree of up to 32 branches per node. A node keeps only the branches that are there; which ones they are is told
// by the bits of its mask. Reading goes in ascending order of the numbers, past nothing that has been removed.

const BITS = 5;
const WIDTH = 1 << BITS;

/** `slots` holds values in the lowest level, nodes in those above. */
interface Node {
  readonly mask: number;
  readonly slots: readonly unknown[];
}

const EMPTY: Node = { mask: 0, slots: [] };

export class NumberMap<T> {
  readonly #root: Node;
  /** Levels of the tree; one with n levels holds the numbers below 32 to the power of n. */
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

  /** Asks in ascending order of the numbers until the answer is yes. */
  some(test: (value: T, key: number) => boolean): boolean {
    return someIn(this.#root, this.#levels - 1, 0, test as (value: unknown, key: number) => boolean);
  }

  values(): T[] {
    const all: T[] = [];
    this.some((value) => all.push(value) === 0);
    return all;
  }

  /** Calls with every number that does not lead to the same value in both; what both share is not looked at. */
  static compare<T>(before: NumberMap<T>, after: NumberMap<T>, differs: (was?: T, is?: T) => void): void {
    const levels = Math.max(before.#levels, after.#levels);
    const [old, young] = [raise(before.#root, before.#levels, levels), raise(after.#root, after.#levels, levels)];
    compareIn(old, young, levels - 1, differs as Differs);
  }
}

const capacity = (levels: number): number => 2 ** (BITS * levels);

const bitOf = (key: number, level: number): number => 1 << ((key >>> (BITS * level)) & (WIDTH - 1));

/** The place of a branch among those that are there: as many as there are bits below its own. */
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

/** The node without the number, or null when nothing is left in it. The number must be there. */
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

/** The same tree with more levels. */
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
