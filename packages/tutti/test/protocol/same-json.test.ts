import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "../../src/protocol/json/canonical-json.ts";
import { isSameJson } from "../../src/protocol/json/same-json.ts";

/** Few names and values, so that equal and almost equal values are common. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown[]>(null, 0, 1, "", "a", true, [], {}),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("value"), { maxKeys: 2 }),
  ),
}));

it("`isSameJson` compares JSON values regardless of the order of their members", () => {
  const verdicts = new Set<boolean>();
  fc.assert(
    fc.property(value, value, (one, other) => {
      const same = canonicalJson(one) === canonicalJson(other);
      verdicts.add(same);
      expect(isSameJson(one, other)).toBe(same);
      expect(isSameJson(one, structuredClone(one))).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(verdicts.size).toBe(2);
  expect(isSameJson({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
  expect(isSameJson([1, 2], [1])).toBe(false);
  expect(isSameJson([1], [1, 2])).toBe(false);
  expect(isSameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(isSameJson({ toString: 1 }, {})).toBe(false);
});
