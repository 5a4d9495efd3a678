// Runs many simulations: random seeds, crashes at chosen steps, and second crashes during recovery.
import { Random } from "./random.ts";
import { simulate, type SimulationOptions, type SimulationResult } from "./simulation.ts";

export interface Failure {
  options: SimulationOptions;
  result: SimulationResult;
}

export interface Tally {
  simulations: number;
  steps: number;
  counts: Map<string, number>;
  failure: Failure | null;
}

export const newTally = (): Tally => ({ simulations: 0, steps: 0, counts: new Map(), failure: null });

/** Adds the simulation to `tally`. Returns null after a violation. */
async function trial(tally: Tally, options: SimulationOptions): Promise<SimulationResult | null> {
  const result = await simulate(options);
  tally.simulations++;
  tally.steps += result.steps;
  for (const [what, count] of result.counts) tally.counts.set(what, (tally.counts.get(what) ?? 0) + count);
  if (result.violation) tally.failure ??= { options, result };
  return result.violation ? null : result;
}

export async function runSeeds(
  tally: Tally,
  from: number,
  count: number,
  bug?: SimulationOptions["bug"],
): Promise<void> {
  for (let seed = from; seed < from + count; seed++) {
    if (!(await trial(tally, { seed, ...(bug ? { bug } : {}) }))) return;
  }
}

const KILLS_PER_SEED = 25;

export interface KillOptions {
  from: number;
  count: number;
  /** Crash a second time, a few steps after the first. */
  double: boolean;
  bug?: SimulationOptions["bug"];
}

/** Runs each seed once without a crash to count its steps, then `KILLS_PER_SEED` times with one. */
export async function runKillPoints(tally: Tally, { from, count, double, bug = null }: KillOptions): Promise<void> {
  let left = count;
  for (let seed = from; left > 0; seed++) {
    const whole = await trial(tally, { seed, noCrashes: true, bug });
    if (!whole) return;
    const random = new Random(`kills of ${seed}`);
    const steps = Math.min(KILLS_PER_SEED, left, whole.steps);
    const width = whole.steps / steps;
    for (let i = 0; i < steps; i++, left--) {
      const first = Math.max(1, Math.floor(i * width) + random.int(0, Math.floor(width) - 1));
      const second = first + random.pick([1, 2, 3, 5, 10, 20, 40, 80]);
      if (!(await trial(tally, { seed, kills: double ? [first, second] : [first], bug }))) return;
    }
  }
}

export function repeatCommand({ seed, kills, noCrashes, bug }: SimulationOptions): string {
  const crash = kills ? ` --kill ${kills.join(",")}` : noCrashes ? " --no-crashes" : "";
  return `npm run sim -- --seed ${seed}${crash}${bug ? ` --bug ${bug}` : ""}`;
}

const TAIL = 40;

export function describeFailure({ options, result }: Failure): string {
  const tail = result.log.slice(-TAIL).join("\n");
  return `${tail}\n\n${result.violation!.message}\nReproduce it with: ${repeatCommand(options)}`;
}
