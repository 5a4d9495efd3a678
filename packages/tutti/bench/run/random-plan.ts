// Random plans of several shapes, reproducible by seed. Durations are the tasks' expected times.
import type { Random } from "../../test/lab/random.ts";
import { chainLengths } from "../../src/run/urgency.ts";
import type { Task } from "../../src/schema/task.ts";

export const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

/** Returns the dependencies of each task, as indexes. */
type Shape = (count: number, random: Random) => number[][];

const pick = (random: Random, below: number, many: number): number[] => [
  ...new Set(Array.from({ length: many }, () => between(random, 0, below - 1))),
];

/**
 * In these shapes the lower bound (the longest chain, or all work spread evenly over the workers) can almost be
 * reached: no few tasks in the middle of a plan block all others. In a plan with such a bottleneck, for example a
 * single line of forks and joins, workers are idle under every schedule and the bound is meaningless.
 */
export const SHAPES: Record<string, Shape> = {
  /** Up to three dependencies on any earlier tasks. */
  sparse: (count, random) =>
    Array.from({ length: count }, (_, i) => (i === 0 ? [] : pick(random, i, between(random, 0, 3)))),
  /** Layers of about the same width; each task depends on one to three tasks of the previous layer. */
  layered: (count, random) => {
    const needs: number[][] = [];
    const usual = between(random, 5, Math.max(5, Math.floor(count / 4)));
    let [from, to] = [0, 0];
    while (needs.length < count) {
      const width = Math.min(count - needs.length, between(random, Math.ceil(usual * 0.7), Math.ceil(usual * 1.3)));
      for (let i = 0; i < width; i++) {
        needs.push(to === from ? [] : pick(random, to - from, between(random, 1, 3)).map((place) => from + place));
      }
      [from, to] = [to, needs.length];
    }
    return needs;
  },
  /** Several parallel lines. Each repeats: one task, then many that depend on it. */
  "fork-join": (count, random) => {
    const needs: number[][] = [];
    const lines = between(random, 2, 6);
    const ends: number[][] = Array.from({ length: lines }, () => []);
    for (let line = 0; needs.length < count; line = (line + 1) % lines) {
      const fork = needs.push(ends[line]!) - 1;
      const width = Math.min(count - needs.length, between(random, 2, Math.max(4, Math.floor(count / 20))));
      ends[line] = width === 0 ? [fork] : Array.from({ length: width }, () => needs.push([fork]) - 1);
    }
    return needs;
  },
  /** A few chains, and as many independent tasks. */
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
    scope: [`src/part-${i % 1000}/file-${i}.ts`],
    priority: 5,
    dependencies: needs.map((need) => `t${need}`),
    // From half a minute to half an hour, most of them short.
    expectedMs: Math.round(30_000 * 60 ** random()),
  }));
}

/** The longest chain, or all work spread evenly over the workers. */
export function lowerBound(tasks: readonly Task[], workers: number): number {
  const work = tasks.reduce((sum, { expectedMs }) => sum + expectedMs!, 0);
  return Math.max(work / workers, ...chainLengths(tasks).values());
}
