// Plants one bug at a time and counts the simulations until it is found: first with random seeds, then with kill
// points.
import { newTally, repeatCommand, runKillPoints, runSeeds } from "./campaign.ts";
import { BUGS, type BugName } from "./planted.ts";

const MAX_SEEDS = 400;
const MAX_KILL_POINTS = 150;

interface Finding {
  bug: BugName;
  /** Simulations until the bug was found, or null. */
  simulations: number | null;
  by: "seeds" | "kill points";
  what: string;
  repeat: string;
}

async function findBug(bug: BugName): Promise<Finding> {
  const tally = newTally();
  await runSeeds(tally, 1, MAX_SEEDS, bug);
  const by = tally.failure ? "seeds" : "kill points";
  if (!tally.failure) await runKillPoints(tally, { from: 1, count: MAX_KILL_POINTS, double: true, bug });
  const { failure } = tally;
  return {
    bug,
    by,
    simulations: failure ? tally.simulations : null,
    what: failure?.result.violation?.message ?? "nothing",
    repeat: failure ? repeatCommand(failure.options) : "",
  };
}

export async function findPlanted(bugs: readonly BugName[] | null): Promise<boolean> {
  const names = bugs ?? (Object.keys(BUGS) as BugName[]);
  let missed = 0;
  for (const bug of names) {
    const { simulations, by, what, repeat } = await findBug(bug);
    if (simulations === null) missed++;
    const found = simulations === null ? "NOT FOUND" : `found after ${simulations} (${by})`;
    process.stdout.write(`${bug}: ${found}: ${what.slice(0, 110)}\n    ${repeat}\n`);
  }
  process.stdout.write(`${names.length} planted, ${names.length - missed} found\n`);
  return missed === 0;
}
