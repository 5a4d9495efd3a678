// What an engine does to the world outside: first it happens, then the engine hears of it. An engine can die before,
// after, and in between.
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

  /** Few different waits, so that many things are due at once and the seed says which comes first. */
  latency(): number {
    return Number(this.#random.weighted({ "0": 4, "1": 4, "5": 3, "20": 2, "200": 1 }));
  }

  after(delay: number, label: string, run: () => void, late?: () => void): void {
    this.#loop.at(delay, this.#owner, label, run, late);
  }

  /** The effect, and then its result. */
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
