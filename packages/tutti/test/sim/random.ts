// Seeded random numbers: a seed always gives the same choices. Each part of the simulation uses its own stream, so that
// an additional choice in one part does not change the others.

export class Random {
  readonly #seed: string;
  #state: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = hash(seed);
  }

  /** Returns an independent stream that depends only on the seed and `name`. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive), by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns an integer from `min` to `max`, both inclusive. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    return entries.find(([, weight]) => (left -= weight) < 0)?.[0] ?? entries.at(-1)![0];
  }
}

/** FNV-1a plus a final mix, so that seeds which differ in one digit start differently. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}
