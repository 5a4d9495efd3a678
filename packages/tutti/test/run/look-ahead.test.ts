import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chainLengths, mostUrgentFirst } from "../../src/run/urgency.ts";
import type { Task } from "../../src/schema/task.ts";

const task = (id: string, expectedMs: number, dependencies: string[] = [], priority = 5): Task => ({
  id,
  title: id,
  description: id,
  scope: [],
  priority,
  dependencies,
  expectedMs,
});

const plans = (priorities: fc.Arbitrary<number>): fc.Arbitrary<Task[]> =>
  fc
    .array(fc.tuple(fc.array(fc.nat(), { maxLength: 3 }), fc.integer({ min: 1, max: 30 }), priorities), {
      minLength: 1,
      maxLength: 40,
    })
    .map((rows) =>
      rows.map(([picks, ms, priority], i) => {
        const needs = i === 0 ? [] : picks.map((pick) => `t${pick % i}`);
        return task(`t${i}`, ms, [...new Set(needs)], priority);
      }),
    );

/** Simulates the plan: a free worker takes the first task in the order that can start. */
function makespan(tasks: readonly Task[], order: readonly string[], workers: number): number {
  const byId = new Map(tasks.map((each) => [each.id, each]));
  const ends = new Map<string, number>();
  let now = 0;
  for (;;) {
    const canStart = (id: string) =>
      !ends.has(id) && byId.get(id)!.dependencies.every((needed) => (ends.get(needed) ?? Infinity) <= now);
    const running = [...ends.values()].filter((at) => at > now);
    for (const id of order.filter(canStart).slice(0, workers - running.length)) {
      ends.set(id, now + byId.get(id)!.expectedMs!);
      running.push(ends.get(id)!);
    }
    if (running.length === 0) return now;
    now = Math.min(...running);
  }
}

const byChain = (tasks: readonly Task[]): string[] => {
  const ahead = chainLengths(tasks);
  return tasks.toSorted((a, b) => a.priority - b.priority || ahead.get(b.id)! - ahead.get(a.id)!).map(({ id }) => id);
};

describe("`mostUrgentFirst`", () => {
  it("names every task once, by priority first", () => {
    fc.assert(
      fc.property(plans(fc.integer({ min: 1, max: 3 })), fc.integer({ min: 1, max: 6 }), (tasks, workers) => {
        const order = mostUrgentFirst(tasks, workers);
        expect(order.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
        const priorities = order.map((id) => tasks.find((each) => each.id === id)!.priority);
        expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
      }),
    );
  });

  it("takes no longer than an order by chain length", () => {
    fc.assert(
      fc.property(plans(fc.integer({ min: 4, max: 6 })), fc.integer({ min: 1, max: 6 }), (tasks, workers) => {
        const ours = makespan(tasks, mostUrgentFirst(tasks, workers), workers);
        expect(ours).toBeLessThanOrEqual(makespan(tasks, byChain(tasks), workers));
      }),
    );
  });

  it("considers the number of workers, not only the chains", () => {
    // With the long task first, two workers need 5. If it starts after `b`, no worker is ever idle.
    const tasks = [task("long", 3), task("b", 1), task("c", 2), task("d", 2, ["b"])];
    expect(makespan(tasks, byChain(tasks), 2)).toBe(5);
    expect(makespan(tasks, mostUrgentFirst(tasks, 2), 2)).toBe(4);
  });

  it("keeps the order of the plan for otherwise equal tasks", () => {
    expect(mostUrgentFirst([task("b", 1), task("a", 1), task("c", 1)], 2)).toEqual(["b", "a", "c"]);
  });

  it("handles a plan of any size", () => {
    const wide = Array.from({ length: 100_000 }, (_, i) => task(`t${i}`, i % 7, i === 0 ? [] : ["t0"]));
    expect(mostUrgentFirst(wide, 20)).toHaveLength(100_000);
  });
});
