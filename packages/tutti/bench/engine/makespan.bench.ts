// Measures a whole plan: 60 tasks of 40 to 400 ms in random graphs, at most four at a time, with real processes, git and
// SQLite. The limit is the lower bound: the longest chain, or all work spread evenly over the workers. Beside it, the same
// agent processes run the same plan without Tutti. The types of the agent's program are stripped once, because a Node
// process that strips them itself takes three times the CPU time to start. Target: 1.15 of the lower bound.
// Run: npm run bench -- makespan
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { openLocalEngine, type LocalOptions } from "../../src/main/local-engine.ts";
import type { Task } from "../../src/schema/task.ts";
import { Lab } from "../../test/lab/lab.ts";
import { programOf } from "../../test/lab/program-of.ts";
import { randomFrom } from "../../test/lab/random.ts";
import { median } from "../protocol/compare.ts";
import { between, lowerBound, randomPlan, SHAPES } from "../run/random-plan.ts";

const ROUNDS = 3;
const TASKS = 60;
const WORKERS = 4;
const GOAL = 1.15;

function planOf(seed: number): Task[] {
  const random = randomFrom(seed);
  const tasks = randomPlan(SHAPES["sparse"]!, TASKS, random);
  return tasks.map((task) => ({ ...task, scope: [], expectedMs: between(random, 40, 400) }));
}

interface AgentProgram {
  file: string;
  env: Record<string, string>;
}

async function inLab<T>(tasks: readonly Task[], execute: (lab: Lab, agent: AgentProgram) => Promise<T>): Promise<T> {
  const lab = new Lab();
  try {
    const plan = join(lab.folder, "plan.json");
    const timed = tasks.map(({ id, dependencies, expectedMs }) => ({ id, dependencies, ms: expectedMs }));
    writeFileSync(plan, JSON.stringify(timed));
    return await execute(lab, {
      file: programOf("timed.ts"),
      env: { LEDGER: join(lab.folder, "ledger.txt"), PLAN: plan },
    });
  } finally {
    lab.tearDown();
  }
}

const withTutti = (tasks: readonly Task[], options: Partial<LocalOptions>, warmSessions = false): Promise<number> =>
  inLab(tasks, async (lab, { file, env }) => {
    const local = openLocalEngine({ dataDir: lab.data, agentEnv: env, ...options });
    const { engine } = local;
    const agent = `command:${process.execPath} ${file}`;
    const config = { autoSpawn: true, maxWorkers: WORKERS, warmSessions };
    const request = { message: "a plan", templateId: "documentation", cwd: lab.repo, agent, config };
    const { id } = await engine.create(request);
    await engine.order(id, "start");
    const { status } = await engine.until(id, ({ released }) => released);
    await local.close();
    if (status !== "completed") throw new Error(`the run is ${status}`);
    const times = lab.events().filter(({ type }) => type === "worker:spawning" || type === "worker:completed");
    return times.at(-1)!.timestamp - times[0]!.timestamp;
  });

/** Starts the agent of each task as soon as its dependencies have ended and a slot is free. */
const withoutTutti = (tasks: readonly Task[]): Promise<number> =>
  inLab(tasks, async (lab, { file, env }) => {
    const waiting = new Set(tasks);
    const ended = new Set<string>();
    const running = new Map<string, Promise<unknown>>();
    const start = (id: string): Promise<unknown> => {
      const agent = spawn(process.execPath, [file], {
        cwd: lab.repo,
        stdio: ["pipe", "ignore", "ignore"],
        env: { ...process.env, ...env, TUTTI_TASK_ID: id },
      });
      agent.stdin.end(`${JSON.stringify({ type: "user", phase: "workerExecution" })}\n`);
      return once(agent, "exit").then(() => {
        running.delete(id);
        ended.add(id);
      });
    };
    const since = performance.now();
    while (ended.size < tasks.length) {
      for (const task of waiting) {
        if (running.size === WORKERS) break;
        if (!task.dependencies.every((need) => ended.has(need))) continue;
        waiting.delete(task);
        running.set(task.id, start(task.id));
      }
      await Promise.race(running.values());
    }
    return performance.now() - since;
  });

const VARIANTS: Record<string, (tasks: readonly Task[]) => Promise<number>> = {
  Tutti: (tasks) => withTutti(tasks, {}),
  "Tutti with warm sessions": (tasks) => withTutti(tasks, {}, true),
  "Tutti with nothing prepared": (tasks) => withTutti(tasks, { spareKeeper: false, preparesWorkspaces: false }),
  "the same processes without Tutti": withoutTutti,
};

console.log(`load at the start: ${loadavg()[0]!.toFixed(1)}`);
const ratios = Object.keys(VARIANTS).map(() => [] as number[]);
for (let round = 1; round <= ROUNDS; round += 1) {
  const tasks = planOf(round);
  const bound = lowerBound(tasks, WORKERS);
  for (const [i, measure] of Object.values(VARIANTS).entries()) ratios[i]!.push((await measure(tasks)) / bound);
}
console.log(
  `${TASKS} tasks of 40 to 400 ms, ${WORKERS} at a time: time as a multiple of the lower bound (goal ${GOAL})`,
);
for (const [i, name] of Object.keys(VARIANTS).entries())
  console.log(`  ${name.padEnd(34)} p50 ${median(ratios[i]!).toFixed(2)}, least ${Math.min(...ratios[i]!).toFixed(2)}`);
console.log(`load at the end: ${loadavg()[0]!.toFixed(1)}`);
