// Random plans of several shapes, the same for the same seed. Durations are what the tasks are expected to take.
import type { Task } from "../../src/schema/task.ts";

export type Random = () => number;

/** A small generator of numbers from 0 to 1 (mulberry32), so that a figure can be had again. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

/** Which earlier tasks each task needs, by their places in the plan. */
type Shape = (count: number, random: Random) => number[][];

const pick = (random: Random, below: number, many: number): number[] => [
  ...new Set(Array.from({ length: many }, () => between(random, 0, below - 1))),
];

export const SHAPES: Record<string, Shape> = {
  /** Up to three needs, anywhere before. */
  sparse: (count, random) =>
    Array.from({ length: count }, (_, i) => (i === 0 ? [] : pick(random, i, between(random, 0, 3)))),
  /** Layers of different widths; each task needs one to three of the layer before. */
  layered: (count, random) => {
    const needs: number[][] = [];
    let [from, to] = [0, 0];
    while (needs.length < count) {
      const width = Math.min(count - needs.length, between(random, 3, Math.max(4, Math.floor(count / 5))));
      for (let i = 0; i < width; i++) {
        needs.push(to === from ? [] : pick(random, to - from, between(random, 1, 3)).map((place) => from + place));
      }
      [from, to] = [to, needs.length];
    }
    return needs;
  },
  /** One task, many beside each other that need it, one that needs them all; and again. */
  "fork-join": (count, random) => {
    const needs: number[][] = [[]];
    while (needs.length < count) {
      const fork = needs.length - 1;
      const width = Math.min(count - needs.length, between(random, 4, Math.max(6, Math.floor(count / 4))));
      const first = needs.length;
      for (let i = 0; i < width; i++) needs.push([fork]);
      if (needs.length < count) needs.push(Array.from({ length: width }, (_, i) => first + i));
    }
    return needs;
  },
  /** A few chains, and as many tasks again that need nothing. */
  chains: (count, random) => {
    const chains = between(random, 2, 8);
    return Array.from({ length: count }, (_, i) => (i < count / 2 && i >= chains ? [i - chains] : []));
  },
};

export function randomPlan(shape: Shape, count: number, random: Random): Task[] {
  return shape(count, random).map((needs, i) => ({
    id: `t${i}`,
    title: `t${i}`,
    description: "-",
    scope: [],
    priority: 5,
    dependencies: needs.map((need) => `t${need}`),
    // From half a minute to half an hour, most of them short.
    expectedMs: Math.round(30_000 * 60 ** random()),
  }));
}
