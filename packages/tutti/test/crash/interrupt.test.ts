// Commands that receive SIGINT or SIGTERM at random moments: every one ends at once, and nothing is half done.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finished, Lab, processesOf } from "../lab/lab.ts";
import { randomFrom } from "../lab/random.ts";
import { repetitions } from "../lab/repetitions.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

/** `npm run reliability` sets it to 200. */
const INTERRUPTS = repetitions(8, 20, "TUTTI_TEST_INTERRUPTS");
const SEED = Number(process.env["TUTTI_TEST_SEED"] ?? 18);
/** The time that a command has after the signal. */
const LIMIT_MS = 2000;
/** How long a short command takes on a quiet machine. */
const QUIET_MS = 200;
/** A command of this length is in all its phases at some moment: it starts, opens the engine, prepares and works. */
const LONGEST_DELAY_MS = 1200;
const timeout = 600_000 + INTERRUPTS * 15_000;

const lab = new Lab();
const random = randomFrom(SEED);
/** 1 on a quiet machine, more on a busy one. */
let slowness = 1;

interface Interrupted {
  code: number | null;
  signal: NodeJS.Signals | null;
  ms: number;
  /** `slowness` while the command ended. */
  slowness: number;
  delay: number;
  stdout: string;
  stderr: string;
}

async function interrupt(args: string[]): Promise<Interrupted> {
  const child = lab.start(args);
  const end = finished(child);
  const delay = Math.round(random() * LONGEST_DELAY_MS * slowness);
  await Promise.race([sleep(delay), end]);
  child.kill(random() < 0.5 ? "SIGINT" : "SIGTERM");
  const timed = await timeUntil(end);
  return { ...(await end), ...timed, delay };
}

/** Measures the slowness all the time until the end, because other programs may be busy only then. */
async function timeUntil(end: Promise<unknown>): Promise<{ ms: number; slowness: number }> {
  const since = performance.now();
  const ending = { ms: null as number | null };
  void end.then(() => (ending.ms = performance.now() - since));
  let highest = slowness;
  do {
    await measureSlowness();
    highest = Math.max(highest, slowness);
  } while (ending.ms === null);
  return { ms: ending.ms, slowness: highest };
}

/** Node itself handles no signal before it runs the launcher. */
const exitOf = ({ code, signal }: Interrupted): number => (signal === null ? code! : 130);

async function measureSlowness(): Promise<void> {
  const startedAt = performance.now();
  // Another data folder, so that it does not affect the interrupted command.
  expect((await lab.tutti(["--data-dir", join(lab.folder, "other"), "list"])).code).toBe(0);
  slowness = Math.max(1, (performance.now() - startedAt) / QUIET_MS);
}

beforeAll(measureSlowness);
afterAll(() => lab.tearDown());

describe("an interrupted command", () => {
  it("ends within two seconds in every phase, with exit 130, and its run can be continued", { timeout }, async () => {
    const gate = lab.gate();
    const waits = worker("a", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) });
    const asks = worker("b", { then: "ask:Which?" }, { write: { "b.md": "b" }, block: done({}) });
    const agent = lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), waits, asks]);
    const run = ["run", "x", "--cwd", lab.repo, "--agent", agent, "--yes"];
    const first = await interrupt([...run, "--json"]);
    const id = /orch_\w+/.exec(first.stdout)?.[0] ?? (await createRun(run));
    const others = [
      ["attach", id],
      ["logs", id, "-f"],
      ["pause", id],
      ["serve", "--port", "0"],
      ["open"],
      ["status", id],
    ];
    const slow: string[] = [];
    const wrong: string[] = [];
    for (let i = 1; i < INTERRUPTS; i++) {
      // Every other time it is the command of the first report of a hang.
      const args = i % 2 === 1 ? ["attach", id] : [run, ...others][Math.floor(random() * (others.length + 1))]!;
      const ended = await interrupt(args);
      const shown = `tutti ${args.join(" ")} after ${ended.delay} ms: ${JSON.stringify(ended)}`;
      if (ended.ms > LIMIT_MS * ended.slowness) slow.push(shown);
      // A server ends with 0, `attach` of a paused run with 4, and a short command may have ended before.
      const allowed: Record<string, number[]> = { serve: [0], open: [0], pause: [0, 4], status: [0], attach: [4] };
      if (![130, ...(allowed[args[0]!] ?? [])].includes(exitOf(ended))) wrong.push(shown);
    }
    expect({ slow, wrong }).toEqual({ slow: [], wrong: [] });
    await expect.poll(() => processesOf(lab.folder)).toEqual([]);

    gate.open();
    const { status } = (await lab.json(["status", id])).last as { status: string };
    const attached = await lab.json([status === "paused" ? "resume" : "attach", id]);
    // Without a terminal the question ends the command.
    expect(attached).toMatchObject({ code: 4, last: { error: { code: "needs_answer" } } });
    expect(await lab.json(["cancel", id])).toMatchObject({ code: 0 });
  });

  /** Creates a run that waits, with a command that is interrupted when its workers have started. */
  async function createRun(run: string[]): Promise<string> {
    const child = lab.start(run);
    const end = finished(child);
    const events = () => (existsSync(join(lab.data, "tutti.db")) ? lab.events() : []);
    const started = () => events().find(({ type }) => type === "worker:started")?.run ?? undefined;
    await expect.poll(started).toBeDefined();
    child.kill("SIGINT");
    expect((await end).code).toBe(130);
    return started()!;
  }

  it("does not wait for an agent that ignores signals, whose keeper kills it", async () => {
    const agent = `command:sh -c 'trap "" INT TERM; while :; do sleep 0.1; done'`;
    const child = lab.start(["run", "stubborn", "--cwd", lab.repo, "--agent", agent, "--yes"]);
    const end = finished(child);
    const created = () =>
      lab.events().find(({ type, data }) => type === "orchestrator:created" && data.userRequest === "stubborn")?.run;
    const isWorking = () => lab.events().some(({ run, type }) => type === "turn:started" && run === created());
    await expect.poll(isWorking).toBe(true);
    child.kill("SIGTERM");
    const timed = await timeUntil(end);
    expect((await end).code).toBe(130);
    expect(timed.ms).toBeLessThan(LIMIT_MS * timed.slowness);
    await expect.poll(() => processesOf(lab.folder)).toEqual([]);
    const { last } = await lab.json(["status", created()!]);
    expect(last).toMatchObject({ status: "analyzing", interrupted: true, next: `tutti attach ${created()!}` });
  });

  it("of the kind tutti merge has merged or not, and the merge can be repeated", { timeout }, async () => {
    const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker], "merged.json");
    const done = await lab.json(["run", "y", "--cwd", lab.repo, "--agent", agent, "--yes"]);
    expect(done).toMatchObject({ code: 0 });
    const { id, commit } = done.last as { id: string; commit: string };
    const base = lab.git("rev-parse", "HEAD");
    for (let i = 0; i < INTERRUPTS / 4; i++) {
      const ended = await interrupt(["merge", id]);
      expect([0, 130]).toContain(exitOf(ended));
      // The git process of the merge completes although Tutti has ended.
      await expect.poll(() => existsSync(join(lab.repo, ".git", "index.lock"))).toBe(false);
      await expect.poll(() => processesOf(lab.folder)).toEqual([]);
      expect([base, commit]).toContain(lab.git("rev-parse", "HEAD"));
      expect(lab.git("status", "--porcelain")).toBe("");
      expect((await lab.json(["merge", id])).code).toBe(0);
      expect(lab.git("rev-parse", "HEAD")).toBe(commit);
      lab.git("reset", "--keep", "--quiet", base);
    }
  });
});
