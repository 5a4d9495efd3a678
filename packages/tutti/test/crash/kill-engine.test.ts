// Kills the engine's whole process tree at random moments. Nothing may be lost or done twice.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { agentOf, finished, killProcess, Lab, processTree } from "../lab/lab.ts";
import { randomFrom } from "../lab/random.ts";
import { repetitions } from "../lab/repetitions.ts";
import { fold } from "../../src/run/apply.ts";

const KILLS = repetitions(4, 10, "TUTTI_TEST_KILLS");
const SEED = Number(process.env["TUTTI_TEST_SEED"] ?? 16);

/** Twelve tasks: six independent ones, four that each depend on two of them, and two that depend on those. */
function plan(random: () => number) {
  const ms = () => 100 + Math.floor(random() * 900);
  const first = Array.from({ length: 6 }, (_, i) => ({ id: `first_${i}`, ms: ms() }));
  const second = Array.from({ length: 4 }, (_, i) => ({
    id: `second_${i}`,
    ms: ms(),
    dependencies: [`first_${i}`, `first_${i + 1}`],
  }));
  const third = Array.from({ length: 2 }, (_, i) => ({
    id: `third_${i}`,
    ms: ms(),
    dependencies: [`second_${2 * i}`, `second_${2 * i + 1}`],
  }));
  return { tasks: [...first, ...second, ...third], mainMs: 150 };
}

describe(`an engine killed ${KILLS} times (seed ${SEED})`, () => {
  let lab: Lab;
  afterEach(() => lab.tearDown());

  it(
    "accepts every task exactly once, starts no attempt twice, adopts living sessions, and leaves nothing behind",
    { timeout: 600_000 + KILLS * 15_000 },
    async () => {
      const random = randomFrom(SEED);
      let kills = 0;
      let adopted = 0;
      for (let round = 0; kills < KILLS; round++) {
        lab = new Lab();
        const before = lab.fingerprint();
        const ledger = join(lab.folder, "ledger.txt");
        const env = { PLAN: JSON.stringify(plan(random)), LEDGER: ledger };
        const agentEnv = ["--agent-env", `PLAN=${env.PLAN}`, "--agent-env", `LEDGER=${ledger}`];
        const agent = agentOf("command", "team.ts");
        let args = ["--json", "run", "twelve things", "--cwd", lab.repo, "--agent", agent, "--yes", ...agentEnv];
        let id: string | undefined;
        for (let living = true; living && kills < KILLS;) {
          const engine = lab.start(args);
          const end = finished(engine);
          const moment = sleep(50 + random() * 1200);
          living = (await Promise.race([end.then(() => false), moment.then(() => true)])) && engine.exitCode === null;
          if (living) {
            for (const pid of processTree(engine.pid!)) killProcess(pid);
            kills++;
          }
          await end;
          const log = existsSync(join(lab.data, "tutti.db")) ? lab.events() : [];
          id = log[0]?.run ?? undefined;
          if (living) adopted += livingWorkers(ledger);
          // Killed before the run was on disk: there is no run to resume, so it is started again.
          if (id !== undefined) args = ["--json", "attach", id, "--yes", ...agentEnv];
        }
        const { last } = await lab.json(args.slice(1));
        expect(last, `seed ${SEED}, round ${round}`).toMatchObject({
          outcome: "success",
          census: { planned: 12, completed: 12 },
        });
        checkLog(lab, id ?? last.id!);
        checkLedger(ledger);
        expect(lab.leftovers()).toEqual([]);
        expect(lab.fingerprint()).toBe(before);
        expect(
          lab
            .git("ls-tree", "-r", "--name-only", `tutti/${last.id}`)
            .split("\n")
            .filter((file) => file.startsWith("out/")),
        ).toHaveLength(12);
        if (kills < KILLS) lab.tearDown();
      }
      // A few kills may all fall into moments without a worker; many cannot.
      if (KILLS >= 20) expect(adopted).toBeGreaterThan(0);
    },
  );
});

/** Counts workers that had started but not ended when the engine was killed. They must continue by themselves. */
function livingWorkers(ledger: string): number {
  if (!existsSync(ledger)) return 0;
  const lines = readFileSync(ledger, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const ended = new Set(lines.filter(([event]) => event === "end").map(([, task, attempt]) => `${task} ${attempt}`));
  return lines.filter(
    ([event, task, attempt, pid]) =>
      event === "start" && !ended.has(`${task} ${attempt}`) && existsSync(`/proc/${pid}`),
  ).length;
}

function checkLog(lab: Lab, id: string): void {
  const log = lab.events().filter((event) => event.run === id);
  expect(log.map((event) => event.runSeq)).toEqual(log.map((_, i) => i + 1));
  const completed = log.filter((event) => event.type === "worker:completed").map((event) => event.data.taskId);
  expect(completed.toSorted()).toEqual([...new Set(completed)].toSorted());
  expect(completed).toHaveLength(12);
  expect(fold(null, log)).toMatchObject({ status: "completed", released: true });
}

/** Each attempt starts once. Sessions outlive the engine, so no task needs a second attempt. */
function checkLedger(ledger: string): void {
  const lines = readFileSync(ledger, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const starts = lines.filter(([event]) => event === "start").map(([, task, attempt]) => `${task} ${attempt}`);
  expect(starts.length, starts.join(", ")).toBe(new Set(starts).size);
  expect(new Set(starts.map((start) => start.split(" ")[0])).size).toBe(12);
}
