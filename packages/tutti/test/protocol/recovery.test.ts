import { describe, expect, it } from "vitest";
import { combination, DAMAGES, isUnclear } from "./damage.ts";
import type { Damage } from "./damage.ts";
import type { Random } from "../lab/random.ts";
import { tally } from "./recovery.ts";

/** Selects combinations that are readable, or only those that are not. */
function clear(random: Random, count: number, wanted: boolean): Damage[] {
  for (;;) {
    const damages = combination(random, count);
    if (isUnclear(damages) !== wanted) return damages;
  }
}

describe("a damaged message", () => {
  it("can be damaged in at least 35 known ways", () => {
    expect(new Set(DAMAGES.map((damage) => damage.name)).size).toBeGreaterThanOrEqual(35);
  });

  it.each(DAMAGES.map((damage, index) => [damage.name, damage, index] as const))(
    "is recovered exactly from: %s",
    (_name, damage, index) => {
      const result = tally(index, 40, () => [damage]);
      expect(result).toMatchObject({ recovered: 40, example: "" });
    },
  );

  it("is recovered from 99.5 % of combinations of two and three damages, and never misread", () => {
    for (const [seed, count, messages] of [
      [2000, 2, 3000],
      [3000, 3, 2000],
    ] as const) {
      const result = tally(seed, messages, (random) => clear(random, count, true));
      expect(result, result.example).toMatchObject({ wrong: 0, wrongAndValid: 0 });
      expect(result.recovered / result.messages, result.example).toBeGreaterThanOrEqual(0.995);
    }
  });

  it("is rejected rather than misread if two damages make it ambiguous", () => {
    const result = tally(4000, 1500, (random) => clear(random, 2, false));
    expect(result, result.example).toMatchObject({ wrong: 0, wrongAndValid: 0 });
    expect(result.refused).toBeGreaterThan(0);
  });
});
