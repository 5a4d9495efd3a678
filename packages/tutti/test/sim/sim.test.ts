// The real engine in a simulated world: many seeds, crashes at chosen steps, and planted bugs that have to be found. The
// first lines of main.ts say how to run more of it.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { describeFailure, newTally, runKillPoints, runSeeds, type Tally } from "./campaign.ts";
import { missingExercise } from "./exercise.ts";
import { simulate } from "./simulation.ts";

const SEEDS = 500;
const KILL_POINTS = 200;
const DOUBLE_KILL_POINTS = 100;
const SLOW_MS = 600_000;

const expectNothingWrong = ({ failure }: Tally): void => {
  if (failure) expect.fail(describeFailure(failure));
};

it(
  `keeps every promise over ${SEEDS} seeds of sessions, stores, clocks and people that misbehave, and brings every run to its end (D4-284)`,
  async () => {
    const tally = newTally();
    await runSeeds(tally, 1, SEEDS);
    expectNothingWrong(tally);
    expect(tally.simulations).toBe(SEEDS);
    expect(missingExercise(tally.counts)).toEqual([]);
  },
  SLOW_MS,
);

it(
  "goes on from the log wherever the engine is killed (D4-284)",
  async () => {
    const tally = newTally();
    await runKillPoints(tally, { from: 1, count: KILL_POINTS, double: false });
    expectNothingWrong(tally);
    expect(tally.simulations).toBeGreaterThan(KILL_POINTS);
  },
  SLOW_MS,
);

it(
  "goes on from the log when it is killed again while it recovers (D4-284)",
  async () => {
    const tally = newTally();
    await runKillPoints(tally, { from: 101, count: DOUBLE_KILL_POINTS, double: true });
    expectNothingWrong(tally);
    expect(tally.simulations).toBeGreaterThan(DOUBLE_KILL_POINTS);
  },
  SLOW_MS,
);

it("does the same again under the same seed, step by step", async () => {
  for (const options of [{ seed: 3 }, { seed: 8 }, { seed: 12, kills: [90, 97] }]) {
    const [one, other] = [await simulate(options), await simulate(options)];
    expect(one.log.length).toBeGreaterThan(100);
    expect(other.log).toEqual(one.log);
    expect(other.counts).toEqual(one.counts);
  }
});

/** Loaded by Node itself, because the bugs in the rules are put in where modules are loaded. */
const sim = (...args: string[]): { status: number; text: string } => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  try {
    return { status: 0, text: execFileSync(process.execPath, [main, ...args], { encoding: "utf8" }) };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { status, text: stdout };
  }
};

it.each([
  "ack-before-durable",
  "epoch-not-checked",
  "turn-delivered-twice",
  "attempt-started-twice",
  "workspace-gone-before-snapshot",
  "merge-lost",
  "slots-not-reserved",
  "slot-not-released",
  "pause-ignored",
  "budget-ignored",
  "refusal-ignored-by-starts",
  "refusal-counts-as-a-try",
  "permission-by-default",
  "question-is-no-answer",
])(
  "finds the planted bug %s",
  (bug) => {
    expect(sim("--planted", "--bug", bug).text).toContain("1 planted, 1 found");
  },
  SLOW_MS,
);

it(
  "says how a failure can be repeated with one command",
  () => {
    const { status, text } = sim("--seed", "4", "--bug", "completed-twice");
    expect(status).toBe(1);
    expect(text).toContain("I4: ");
    expect(text).toContain("Repeat it with: npm run sim -- --seed 4 --bug completed-twice");
  },
  SLOW_MS,
);
