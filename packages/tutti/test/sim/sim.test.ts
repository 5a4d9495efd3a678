// Runs the real engine in a simulated world: many seeds, crashes at chosen steps, and planted bugs that must be found.
// The header of main.ts shows how to run more.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { simulate } from "./simulation.ts";
import { repetitions } from "../lab/repetitions.ts";

const SEEDS = repetitions(40, 500);
const KILL_POINTS = repetitions(10, 60);
/** A limit for hangs: these tests only compute, so a busy machine makes them slow. */
const timeout = 3_600_000;

/**
 * Runs the simulation as a command: the planted bugs replace modules while Node loads them, and Node runs these modules
 * faster than Vitest does.
 */
async function sim(...args: string[]): Promise<{ status: number; text: string }> {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  try {
    return { status: 0, text: (await promisify(execFile)(process.execPath, [main, ...args])).stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { status: code, text: stdout };
  }
}

it.concurrent(
  `the engine keeps every invariant and ends every run over ${SEEDS} seeds with faulty sessions, stores, clocks and users (D4-284)`,
  { timeout },
  async () => {
    const { status, text } = await sim("--seeds", `${SEEDS}`);
    expect(status, text).toBe(0);
    expect(text).toContain(`${SEEDS} seeds, `);
    expect(text).toContain("No violation found.");
  },
);

it.concurrent(
  "the engine recovers from the log wherever it is killed, even during a recovery (D4-284)",
  { timeout },
  async () => {
    const { status, text } = await sim("--kill-points", `${2 * KILL_POINTS}`);
    expect(status, text).toBe(0);
    const double = await sim("--from", "101", "--kill-points", `${KILL_POINTS}`, "--double");
    expect(double.status, double.text).toBe(0);
    const [once, twice] = double.text.match(/\d+(?= simulations with kill points)/g)!.map(Number);
    expect(Math.min(once!, twice!)).toBeGreaterThan(KILL_POINTS);
  },
);

it("the same seed reproduces a simulation step by step", async () => {
  for (const options of [{ seed: 3 }, { seed: 8 }, { seed: 12, kills: [90, 97] }]) {
    const [one, other] = [await simulate(options), await simulate(options)];
    expect(one.log.length).toBeGreaterThan(100);
    expect(other.log).toEqual(one.log);
    expect(other.counts).toEqual(one.counts);
  }
});

const PLANTED = [
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
  "open-sub-sessions-ignored",
  "message-not-delivered",
  "return-delivered-twice",
  "gate-ignored",
  "rework-without-end",
  "plans-only-once",
  "breaker-ignored",
  "mail-of-outside-unnoticed",
  "warm-session-left",
  "warm-session-stale",
];

it.each(PLANTED.slice(0, repetitions(4, PLANTED.length)))("the simulation finds the planted bug %s", async (bug) => {
  expect((await sim("--planted", "--bug", bug)).text).toContain("1 planted, 1 found");
});

it("a failure prints the command that reproduces it", async () => {
  const { status, text } = await sim("--seed", "4", "--bug", "completed-twice");
  expect(status).toBe(1);
  expect(text).toContain("I4: ");
  expect(text).toContain("Reproduce it with: npm run sim -- --seed 4 --bug completed-twice");
});
