// Measures the cost of a decision as the plan grows, and the quality of the schedule. Targets: at most 1.5 times the
// cost for a hundred times the tasks; over all shapes at most 1.001 of the lower bound in the median and 1.11 in the
// worst case; never slower than p-graph.
// Run: npm run bench -- schedule
import { peerMakespan } from "./peer-graph.ts";
import { randomFrom } from "../../test/lab/random.ts";
import { between, lowerBound, randomPlan, SHAPES } from "./random-plan.ts";
import { confirmedRun, VirtualRun } from "./virtual-run.ts";
import type { Task } from "../../src/schema/task.ts";
import { cpuTime, median } from "../protocol/compare.ts";

const SIZES = [1000, 10_000, 100_000];
const WORKERS = 10;
const STEPS = 100;
const ROUNDS = 41;

const SEED = 1;
const PLANS_PER_SHAPE = 100;

/** `bytesPerTask` counts started tasks only. */
function halfway(count: number, failEvery?: number): { live: VirtualRun; bytesPerTask: number } {
  const run = confirmedRun(randomPlan(SHAPES["sparse"]!, count, randomFrom(1)), WORKERS);
  const live = new VirtualRun(run, failEvery);
  live.begin();
  const before = heap();
  for (let done = 0; done < count / 2; done++) live.step();
  return { live, bytesPerTask: (heap() - before) / (count / 2) };
}

function heap(): number {
  // Twice: caches of a state are collected only after the state.
  globalThis.gc!();
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

/** A state is immutable, so every round from `live` does the same work. */
function steps(live: VirtualRun): () => number {
  return () => {
    const copy = live.copy();
    for (let i = 0; i < STEPS; i++) copy.step();
    return copy.decisions;
  };
}

function showFlatness(name: string, failEvery?: number): void {
  const runs = SIZES.map((size) => ({ size, ...halfway(size, failEvery) }));
  const costs = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (const { live } of runs) for (let i = 0; i < 20; i++) steps(live)();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { size, live } of round % 2 === 0 ? runs : runs.toReversed()) {
      costs.get(size)!.push(cpuTime(steps(live), 1));
    }
  }
  console.log(`${name}:`);
  for (const { size, live, bytesPerTask } of runs) {
    const ratios = costs.get(size)!.map((cost, round) => cost / costs.get(SIZES[0]!)![round]!);
    const each = median(costs.get(size)!) / steps(live)();
    console.log(
      `  ${size} tasks: a decision takes ${median(ratios).toFixed(2)} of what it takes with ${SIZES[0]} ` +
        `(${each.toFixed(1)} µs here), a started task ${(bytesPerTask / 1024).toFixed(1)} KB`,
    );
  }
}

interface Result {
  shape: string;
  /** Total time as a multiple of the lower bound. */
  ours: number;
  peer: number;
  toldPeer: number;
}

async function compareSchedules(): Promise<Result[]> {
  const random = randomFrom(SEED);
  const results: Result[] = [];
  for (let i = 0; i < PLANS_PER_SHAPE; i++) {
    for (const [shape, links] of Object.entries(SHAPES)) {
      const tasks = randomPlan(links, between(random, 20, 500), random);
      const workers = between(random, 2, 20);
      const bound = lowerBound(tasks, workers);
      results.push({
        shape,
        ours: makespan(tasks, workers) / bound,
        peer: (await peerMakespan(tasks, workers, false)) / bound,
        toldPeer: (await peerMakespan(tasks, workers, true)) / bound,
      });
    }
  }
  return results;
}

function makespan(tasks: Task[], workers: number): number {
  const live = new VirtualRun(confirmedRun(tasks, workers));
  live.begin();
  while (live.step());
  if (live.run.status === "running") throw new Error("the plan was not executed");
  return live.now;
}

function showSchedules(results: readonly Result[]): void {
  for (const name of [...Object.keys(SHAPES), "all shapes"]) {
    const of = results.filter(({ shape }) => shape === name || name === "all shapes");
    const line = (who: "ours" | "peer" | "toldPeer"): string => {
      const sorted = of.map((result) => result[who]).toSorted((a, b) => a - b);
      return [0.5, 0.75, 0.9, 0.95, 1]
        .map((share) => sorted[Math.ceil(share * sorted.length) - 1]!.toFixed(4))
        .join(" ");
    };
    console.log(`${name}, ${of.length} plans: time as a multiple of the lower bound (50 75 90 95 100 %)`);
    console.log(`  ours                     ${line("ours")}`);
    console.log(`  p-graph                  ${line("peer")}`);
    console.log(`  p-graph with durations   ${line("toldPeer")}`);
  }
  const above = (who: "peer" | "toldPeer"): number => results.filter((each) => each.ours > each[who] + 1e-9).length;
  console.log(`slower than p-graph: ${above("peer")} plans; than p-graph with durations: ${above("toldPeer")} plans`);
}

showFlatness("every attempt succeeds");
showFlatness("one attempt in five fails and is made again", 5);
showSchedules(await compareSchedules());
