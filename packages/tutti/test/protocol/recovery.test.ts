import { describe, expect, it } from "vitest";
import { combination, DAMAGES, isUnclear } from "./damage.ts";
import type { Damage } from "./damage.ts";
import type { Random } from "../lab/random.ts";
import { randomMessage, pick, type Message } from "./random-message.ts";
import { ourReader, tally } from "./recovery.ts";

/** Texts that no other reading explains, wherever they are. */
const QUOTING = [
  'Use the "fast" mode now',
  'The command prints "done"',
  'The command prints "done".',
  '"fast" mode is on now',
  'It says "yes", then leaves',
  'It maps "a", "b" and "c" to one',
  'Call log("x") and wait',
  'She said "it works, mostly" twice',
  'Change <a href="x.html"> to a button',
  'Set name="value" in the file',
  'A 5" screen and a 3.5" disk are needed',
  'the "a"-"b" range',
  'first "a"; then "b"',
  'Is it "ready"? Yes',
  'the list ["a", "b"] is empty',
];

const AMBIGUOUS = [
  // A key may have become part of the text.
  'returns {"ok": true} always',
  'The key "name": it is unused',
  // The quotes of the string may be written twice.
  '"quoted"',
  // A quote without a partner.
  'the "fast mode',
  'the fast" mode',
];

/** Replaces every text of several words. */
function withQuotes(message: Message, random: Random): Message {
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") return value.includes(" ") ? pick(random, QUOTING) : value;
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replaced(member)]));
  };
  return replaced(message) as Message;
}

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

  it("is recovered from unescaped quotes of every kind that can be read in one way only", () => {
    const raw: Damage = {
      name: "unescaped quotes",
      expect: "message",
      style: { string: (text, place) => (place !== "key" && text.includes('"') ? `"${text}"` : null) },
    };
    const result = tally(
      5000,
      600,
      () => [raw],
      ourReader,
      (random) => withQuotes(randomMessage(random), random),
    );
    expect(result, result.example).toMatchObject({ recovered: 600 });
  });

  it("is rejected if unescaped quotes can be read in several ways", () => {
    const inList = (...texts: string[]): string =>
      `{"phase": "completion", "data": {"task_id": "t", "status": "success", "warnings": ["${texts.join('", "')}"]}}`;
    // An empty text or two elements without a comma; a missing quote before the second element.
    for (const texts of [['an empty "" text'], ['log("x) and', 'a 5" screen'], ['to one, "a 5" screen']])
      expect(ourReader(inList(...texts)), texts.join()).toBeNull();
    for (const text of AMBIGUOUS) {
      for (const written of [`"summary": "${text}"`, `"warnings": ["a", "${text}", "b"]`]) {
        const block = `{"phase": "completion", "data": {"task_id": "t", "status": "success", ${written}}}`;
        expect(ourReader(block), written).toBeNull();
      }
    }
  });

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
