// What a decision costs when the plan grows, and how good the schedule is.
// Run: npm run bench -- schedule
import { randomFrom, randomPlan, SHAPES } from "./random-plan.ts";
import { confirmedRun, VirtualRun } from "./virtual-run.ts";
import { cpuTime, median } from "../protocol/compare.ts";

const SIZES = [1000, 10_000, 100_000];
const WORKERS = 10;
const STEPS = 100;
const ROUNDS = 41;

/** A run in the middle of its plan, and the bytes that each started task has taken so far. */
function halfway(count: number): { live: VirtualRun; bytesPerTask: number } {
  const run = confirmedRun(randomPlan(SHAPES["sparse"]!, count, randomFrom(1)), WORKERS);
  const live = new VirtualRun(run);
  live.begin();
  const before = heap();
  for (let done = 0; done < count / 2; done++) live.step();
  return { live, bytesPerTask: (heap() - before) / (count / 2) };
}

function heap(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

/** Steps from the same state over and over: a state is never changed, so every round does the same work. */
function steps(live: VirtualRun): () => number {
  return () => {
    const copy = live.copy();
    for (let i = 0; i < STEPS; i++) copy.step();
    return copy.decisions;
  };
}

function showFlatness(): void {
  const runs = SIZES.map((size) => ({ size, ...halfway(size) }));
  const costs = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (const { live } of runs) for (let i = 0; i < 20; i++) steps(live)();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { size, live } of round % 2 === 0 ? runs : runs.toReversed()) {
      costs.get(size)!.push(cpuTime(steps(live), 1));
    }
  }
  for (const { size, live, bytesPerTask } of runs) {
    const ratios = costs.get(size)!.map((cost, round) => cost / costs.get(SIZES[0]!)![round]!);
    const each = median(costs.get(size)!) / steps(live)();
    console.log(
      `${size} tasks: a decision takes ${median(ratios).toFixed(2)} of what it takes with ${SIZES[0]} ` +
        `(${each.toFixed(1)} µs here), a started task ${(bytesPerTask / 1024).toFixed(1)} KB`,
    );
  }
}

showFlatness();
