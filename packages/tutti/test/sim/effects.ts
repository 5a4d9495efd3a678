// Simulates the engine's effects on the outside world. The effect happens first and its result arrives later, so an
// engine can die before, between and after the two.
import type { Loop, Owner } from "./loop.ts";
import type { Random } from "./random.ts";

export class Effects {
  readonly #loop: Loop;
  readonly #random: Random;
  readonly #owner: Owner;

  constructor(loop: Loop, random: Random, owner: Owner) {
    this.#loop = loop;
    this.#random = random;
    this.#owner = owner;
  }

  /** Uses few distinct delays, so that many items are due together and the seed decides their order. */
  latency(): number {
    return Number(this.#random.weighted({ "0": 4, "1": 4, "5": 3, "20": 2, "200": 1 }));
  }

  after(delay: number, label: string, run: () => void, late?: () => void): void {
    this.#loop.at(delay, this.#owner, label, run, late);
  }

  /** Runs `effect` after a delay, then resolves with its result after another. */
  act<T>(label: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.after(this.latency(), label, () => {
        try {
          const result = effect();
          this.after(this.latency(), `${label} done`, () => resolve(result));
        } catch (error) {
          const reason = error instanceof Error ? error : new Error(String(error));
          this.after(0, `${label} failed`, () => reject(reason));
        }
      });
    });
  }
}
