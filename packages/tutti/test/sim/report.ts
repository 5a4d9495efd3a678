import { describeFailure, newTally, repeatCommand, runKillPoints, runSeeds, type Tally } from "./campaign.ts";
import { missingExercise } from "./exercise.ts";
import { simulate, type SimulationOptions } from "./simulation.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

export interface CampaignOptions {
  from: number;
  seeds: number;
  killPoints: number;
  double: boolean;
}

export async function campaign({ from, seeds, killPoints, double }: CampaignOptions): Promise<boolean> {
  const tally = newTally();
  const began = performance.now();
  await runSeeds(tally, from, seeds);
  const afterSeeds = tally.simulations;
  if (!tally.failure) await runKillPoints(tally, { from, count: killPoints, double: false });
  const afterKills = tally.simulations;
  if (!tally.failure && double) await runKillPoints(tally, { from, count: killPoints, double: true });
  for (const [what, count] of [...tally.counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) say(`${what}: ${count}`);
  const seconds = (performance.now() - began) / 1000;
  say(`${afterSeeds} seeds, ${killsIn(afterKills - afterSeeds)}, ${killsIn(tally.simulations - afterKills)} twice`);
  say(
    `${tally.steps} steps in ${seconds.toFixed(1)} s, ${(tally.simulations / seconds).toFixed(1)} simulations a second`,
  );
  return conclude(tally, seeds);
}

const killsIn = (simulations: number): string => `${simulations} simulations with kill points`;

function conclude(tally: Tally, seeds: number): boolean {
  if (tally.failure) {
    say(describeFailure(tally.failure));
    return false;
  }
  // A few seeds cannot exercise everything.
  const missing = seeds >= 200 ? missingExercise(tally.counts) : [];
  if (missing.length > 0) say(`Never exercised: ${missing.join(", ")}`);
  else say("No violation found.");
  return missing.length === 0;
}

export async function repeat(options: SimulationOptions, tail: number): Promise<boolean> {
  const result = await simulate(options);
  say(result.log.slice(-tail).join("\n"));
  say(`${result.steps} steps, crashes at ${result.crashes.join(", ") || "none"}`);
  say(result.violation?.message ?? "No violation found.");
  say(`Reproduce it with: ${repeatCommand(options)}`);
  return result.violation === null;
}
