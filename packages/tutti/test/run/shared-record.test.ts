// Compares the immutable maps with the built-in ones.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NumberMap } from "../../src/run/fold/number-map.ts";
import {
  changedKeys,
  emptyRecord,
  entryOf,
  placeOf,
  sizeOf,
  valuesOf,
  withEntry,
  withoutEntries,
  type SharedRecord,
} from "../../src/run/fold/shared-record.ts";
import { expectLinear } from "../lab/growth.ts";

/** Keys close together and far apart, so that the trie is dense in places and has several levels. */
const numbers = fc.oneof(fc.nat({ max: 70 }), fc.nat({ max: 40_000 }), fc.nat({ max: 2 ** 31 - 1 }));
const changes = fc.array(fc.tuple(numbers, fc.option(fc.nat(), { freq: 3 })), { maxLength: 200 });

const ascending = (map: Map<number, number>): [number, number][] => [...map].toSorted(([a], [b]) => a - b);

function entries(map: NumberMap<number>): [number, number][] {
  const all: [number, number][] = [];
  map.some((value, key) => all.push([key, value]) === 0);
  return all;
}

describe("A `NumberMap`", () => {
  it("holds the same entries as a Map in ascending order and never changes", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const model = new Map<number, number>();
        let map = NumberMap.empty<number>();
        const versions: { map: NumberMap<number>; held: [number, number][] }[] = [];
        for (const [key, value] of steps) {
          versions.push({ map, held: ascending(model) });
          if (value === null) model.delete(key);
          else model.set(key, value);
          map = value === null ? map.without(key) : map.with(key, value);
          expect(map.size).toBe(model.size);
          expect(map.get(key)).toBe(value ?? undefined);
        }
        expect(entries(map)).toEqual(ascending(model));
        for (const version of versions) expect(entries(version.map)).toEqual(version.held);
      }),
    );
  });

  it("stops iterating when `some` finds a match", () => {
    const map = [5, 1, 3, 2000].reduce((all, key) => all.with(key, key), NumberMap.empty<number>());
    const asked: number[] = [];
    expect(map.some((value) => asked.push(value) > 0 && value === 3)).toBe(true);
    expect(asked).toEqual([1, 3]);
  });

  it("is compared with another by the differing keys", () => {
    fc.assert(
      fc.property(changes, changes, (first, then) => {
        const step = (map: NumberMap<number>, [key, value]: [number, number | null]): NumberMap<number> =>
          value === null ? map.without(key) : map.with(key, value);
        const before = first.reduce(step, NumberMap.empty<number>());
        const after = then.reduce(step, before);
        const found: unknown[] = [];
        NumberMap.compare(before, after, (was, is) => found.push([was, is]));
        const keys = [...new Set([...entries(before), ...entries(after)].map(([key]) => key))].toSorted(
          (a, b) => a - b,
        );
        const different = keys.filter((key) => before.get(key) !== after.get(key));
        expect(found).toEqual(different.map((key) => [before.get(key), after.get(key)]));
      }),
    );
  });
});

/** Few keys, so that they repeat, and members of `Object.prototype`. */
const names = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((n) => `task_${n}`),
  fc.constantFrom("constructor", "toString", "__proto__", "a", ""),
);
const edits = fc.array(fc.tuple(names, fc.option(fc.nat(), { freq: 3 })), { maxLength: 120 });

const edit = (record: SharedRecord<number>, [key, value]: [string, number | null]): SharedRecord<number> =>
  value === null ? withoutEntries(record, [key]) : withEntry(record, key, value);

describe("A `SharedRecord`", () => {
  it("holds the same entries as a Map in insertion order and never changes", () => {
    fc.assert(
      fc.property(edits, (steps) => {
        const model = new Map<string, number>();
        let record = emptyRecord<number>();
        const versions: { record: SharedRecord<number>; held: [string, number][] }[] = [];
        for (const step of steps) {
          versions.push({ record, held: [...model] });
          if (step[1] === null) model.delete(step[0]);
          else model.set(step[0], step[1]);
          record = edit(record, step);
        }
        expect(sizeOf(record)).toBe(model.size);
        expect(valuesOf(record)).toEqual([...model.values()]);
        for (const key of [...model.keys(), "missing"]) expect(entryOf(record, key)).toBe(model.get(key));
        const places = [...model.keys()].map((key) => placeOf(record, key));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        for (const version of versions) expect(Object.entries(version.record)).toEqual(version.held);
      }),
    );
  });

  it("holds its own entries, whichever of its versions are changed in whatever order", () => {
    const steps = fc.array(fc.tuple(fc.nat(), names, fc.option(fc.nat(), { freq: 3 })), { maxLength: 120 });
    fc.assert(
      fc.property(steps, (all) => {
        const versions = [{ record: emptyRecord<number>(), held: new Map<string, number>() }];
        for (const [at, key, value] of all) {
          const from = versions[at % versions.length]!;
          const held = new Map(from.held);
          if (value === null) held.delete(key);
          else held.set(key, value);
          versions.push({ record: edit(from.record, [key, value]), held });
        }
        for (const { record, held } of versions) {
          expect(Object.entries(record)).toEqual([...held]);
          for (const [, key] of all) expect(entryOf(record, key)).toBe(held.get(key));
        }
      }),
    );
  });

  it("is the same after a thousand keys have come and gone", () => {
    let record = withEntry(emptyRecord<number>(), "kept", 0);
    for (let i = 0; i < 1000; i++) {
      const key = `key ${i}`;
      record = withoutEntries(withEntry(record, key, i), [key]);
    }
    expect(Object.entries(record)).toEqual([["kept", 0]]);
    expect(placeOf(withEntry(record, "key 5", 1), "key 5")).toBe(1001);
  });

  it("grows in linear time, also if each change is made twice to the same version", () => {
    const grow = (size: number): void => {
      let record = emptyRecord<number>();
      for (let i = 0; i < size; i++) {
        withEntry(record, `key ${i}`, i);
        record = withEntry(record, `key ${i}`, i);
      }
      expect(sizeOf(record)).toBe(size);
    };
    expectLinear(grow, 20_000);
  });

  it("gets removed keys again in linear time", () => {
    const renew = (size: number): void => {
      let record = emptyRecord<number>();
      for (let i = 0; i < size; i++) record = withEntry(record, `key ${i}`, i);
      for (let i = 0; i < size; i++) record = withEntry(withoutEntries(record, [`key ${i}`]), `key ${i}`, i);
      expect(Object.keys(record)).toHaveLength(size);
      expect(placeOf(record, "key 0")).toBe(size);
    };
    expectLinear(renew, 10_000);
  });

  it("gets one key again as often as it is removed", () => {
    let record = withEntry(emptyRecord<number>(), "kept", 0);
    for (let i = 0; i < 500; i++) record = withEntry(record, `key ${i}`, i);
    for (let i = 0; i < 500; i++) record = withEntry(withoutEntries(record, ["kept"]), "kept", i);
    expect([entryOf(record, "kept"), sizeOf(record), Object.keys(record).at(-1)]).toEqual([499, 501, "kept"]);
  });

  it("reads like an object and cannot be written", () => {
    const record = withEntry(withEntry(emptyRecord<number>(), "b", 1), "a", 2);
    expect(record["a"]).toBe(2);
    expect(record["c"]).toBeUndefined();
    expect("b" in record).toBe(true);
    expect(Object.hasOwn(record, "toString")).toBe(false);
    expect(Object.keys(record)).toEqual(["b", "a"]);
    expect(JSON.stringify(record)).toBe('{"b":1,"a":2}');
    expect({ ...record }).toEqual({ b: 1, a: 2 });
    expect(record).toEqual({ a: 2, b: 1 });
    expect(record).not.toEqual({ a: 2, b: 3 });
    expect(Object.prototype.toString.call(record)).toBe("[object Object]");
    expect(() => (record["a"] = 3)).toThrow(TypeError);
    expect(() => delete record["a"]).toThrow(TypeError);
  });

  it("may be replaced by a plain object", () => {
    const plain = { x: 1, y: 2 };
    expect(entryOf(plain, "x")).toBe(1);
    expect(entryOf(plain, "toString")).toBeUndefined();
    expect(valuesOf(plain)).toEqual([1, 2]);
    expect(sizeOf(plain)).toBe(2);
    expect(placeOf(plain, "y")).toBe(1);
    expect({ ...withEntry(plain, "z", 3) }).toEqual({ x: 1, y: 2, z: 3 });
    expect({ ...withoutEntries(plain, ["x"]) }).toEqual({ y: 2 });
    expect(withoutEntries(plain, ["z"])).toBe(plain);
  });

  it("reports the changed keys", () => {
    fc.assert(
      fc.property(edits, edits, (first, then) => {
        const before = first.reduce(edit, emptyRecord<number>());
        const after = then.reduce(edit, before);
        const changed = changedKeys(before, after);
        for (const key of [...Object.keys(before), ...Object.keys(after)]) {
          if (entryOf(before, key) !== entryOf(after, key)) expect(changed).toContain(key);
        }
        expect(changedKeys(after, after).size).toBe(0);
      }),
    );
  });
});
