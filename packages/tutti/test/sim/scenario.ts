// Draws the scenario of a seed: the number of runs, their templates and plans, and the server's limits.
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import { drawTeam } from "./team.ts";
import type { Templates } from "../../src/engine/new-run.ts";
import { HOOK_NAMES } from "../../src/schema/hook.ts";
import { Template } from "../../src/schema/template.ts";

export interface Scenario {
  runs: number;
  serverCap: number;
  perAgent: Record<string, number>;
  roughSteps: number;
  crashChance: number;
  snapshots: boolean;
  forks: number;
}

export function drawScenario(random: Random): Scenario {
  return {
    runs: Number(random.weighted({ "1": 5, "2": 4, "3": 2 })),
    serverCap: random.int(1, 5),
    perAgent: random.chance(0.2) ? { sim: random.int(1, 3) } : {},
    roughSteps: random.int(150, 900),
    crashChance: random.pick([0, 0.002, 0.005, 0.015]),
    snapshots: random.chance(0.5),
    forks: random.chance(0.5) ? random.int(1, 3) : 0,
  };
}

const SAMPLES = {
  analysis: { phase: "analysis", data: { summary: "What there is", recommended_splits: 3 } },
  taskPlanning: { phase: "task_list", data: { tasks: [{ id: "task_001", title: "A part", description: "What" }] } },
  worker: { phase: "completion", data: { task_id: "{TASK_ID}", status: "success", summary: "What is there now" } },
  aggregation: { phase: "aggregation", data: { status: "success", summary: "What the result is" } },
  verification: { phase: "verification", data: { status: "passed", summary: "What was checked" } },
};

/** Like the real templates, each prompt contains a sample answer. */
const PROMPTS = Object.fromEntries(
  Object.entries(SAMPLES).map(([phase, sample]) => [
    phase,
    {
      system: `Answer like this:\n{DELIMITER_START}\n${JSON.stringify(sample)}\n{DELIMITER_END}`,
      user: "{USER_REQUEST}",
    },
  ]),
);

function drawConfig(random: Random): object {
  const budget = random.weighted({ none: 14, usd: 2, tokens: 1, turns: 2, descendants: 2, minutes: 1 });
  const limits = { none: {}, usd: { usd: 0.5 }, tokens: { tokens: 3000 }, turns: { turns: 6 } };
  const more = { descendants: { descendants: 4 }, minutes: { minutes: 0.5 } };
  return {
    maxWorkers: random.int(1, 4),
    workerTimeout: random.pick([10_000, 20_000, 45_000]),
    ...(random.chance(0.2) ? { idleTimeout: 10_000 } : {}),
    ...(random.chance(0.4) ? { answerTimeout: random.pick([1000, 15_000]) } : {}),
    ...(random.chance(0.4) ? { autoResume: true, maxAutoResumes: random.int(1, 3) } : {}),
    autoSpawn: random.chance(0.3),
    parallelExecution: random.chance(0.9),
    retryOnError: random.chance(0.9),
    maxRetries: random.int(0, 3),
    autoRetry: random.chance(0.5),
    retryDelay: random.pick([0, 100, 2000, 5000]),
    failedDependency: random.weighted({ skip: 3, continue: 2, fail: 1 }),
    overlappingScopes: random.pick(["apart", "allow"]),
    spawnDelay: random.weighted({ "0": 4, "500": 1 }) === "0" ? 0 : 500,
    acceptWithoutWork: random.chance(0.1),
    budget: { ...limits, ...more }[budget],
  };
}

function drawPhases(random: Random): Phases {
  return {
    analysis: { enabled: random.chance(0.8), timeout: 15_000 },
    taskPlanning: { enabled: random.chance(0.95), timeout: 15_000 },
    workerExecution: { enabled: random.chance(0.97), ...(random.chance(0.1) ? { timeout: 40_000 } : {}) },
    aggregation: {
      enabled: random.chance(0.7),
      timeout: 20_000,
      mergeStrategy: random.weighted({ "smart-merge": 4, concatenate: 1, manual: 1 }),
      conflictResolution: random.pick(["ask", "first-wins", "last-wins", "smart"]),
      skipWhenIndependent: random.chance(0.2),
    },
    verification: { enabled: random.chance(0.4), timeout: 15_000, ...(random.chance(0.4) ? { agent: "other" } : {}) },
  };
}

const drawRadar = (stage: Stage, id: string): string =>
  stage.random.fork(`radar ${id}`).weighted({ ignore: 1, report: 2, hold: 3 });

function withMergeChecks(phases: { aggregation?: object }, random: Random): object {
  if (!random.chance(0.15)) return phases;
  return { ...phases, aggregation: { ...phases.aggregation, commands: [{ name: "sim", run: "check" }] } };
}

/** The sentence of a prompt that makes an agent start sub-agents. */
export const DELEGATE = "Start sub-agents.";

const PHASED: NaturalMode = { config: {}, phases: {}, prompts: {} };

interface NaturalMode {
  config: object;
  phases: Phases;
  prompts: object;
}

type Phases = Record<string, object>;

/** A run in natural mode has one phase, in which its session starts sub-agents. */
function drawNatural(random: Random): NaturalMode {
  if (!random.chance(0.06)) return PHASED;
  const off = { enabled: false };
  const analysis = { enabled: true, timeout: 15_000 };
  const phases = { analysis, taskPlanning: off, workerExecution: off, aggregation: off, verification: off };
  const prompts = { analysis: { ...PROMPTS["analysis"], user: `{USER_REQUEST} ${DELEGATE}` } };
  return { config: { useSubSessions: true }, phases, prompts };
}

function drawHooks(random: Random): object {
  if (!random.chance(0.4)) return {};
  const wanted = HOOK_NAMES.filter(() => random.chance(0.5));
  return Object.fromEntries(
    wanted.map((name) => {
      const run = random.chance(0.5) ? "sim" : "command:sim";
      return [name, { run, timeout: random.pick([100, 5000]), onFailure: random.pick(["continue", "pause"]) }];
    }),
  );
}

/** Every id is a different template; the seed decides its content. */
export const simTemplates = (stage: Stage): Templates => ({
  resolve(id) {
    const random = stage.random.fork(`template ${id}`);
    const { members, phases } = drawTeam(stage.random.fork(`team ${id}`));
    const isTeam = Object.keys(members).length > 0;
    const natural = isTeam ? PHASED : drawNatural(stage.random.fork(`natural mode ${id}`));
    const drawn = { ...drawPhases(random), ...natural.phases };
    const mixed = Object.entries(phases).map(([name, phase]) => [name, { ...drawn[name], ...phase }] as const);
    const template = Template.parse({
      id,
      name: "Simulated",
      config: {
        ...drawConfig(random),
        ...natural.config,
        emergingConflicts: drawRadar(stage, id),
        warmSessions: !isTeam && stage.random.fork(`warm ${id}`).chance(0.5),
      },
      phases: withMergeChecks({ ...drawn, ...Object.fromEntries(mixed) }, stage.random.fork(`merges ${id}`)),
      prompts: { ...PROMPTS, ...natural.prompts },
      hooks: drawHooks(random),
      ...members,
    });
    return { template, programs: [], warnings: [] };
  },
});

const SCOPES = ["docs/", "docs/a.md", "src/one.ts", "src/two.ts", "src/", "test/four.ts"];

/** Returns the plan of a run, occasionally one whose dependencies form a circle. `cycle` is 0 for its first plan. */
export function planOf(stage: Stage, runId: string, random: Random, cycle = 0): object[] {
  const plan = stage.random.fork(`plan ${runId}`);
  const tasks = Array.from({ length: plan.int(1, 9) }, (_, i) => ({
    id: `t${i}`,
    title: cycle === 0 ? `Part ${i}` : `Part ${i} of cycle ${cycle}`,
    description: "what is to be done",
    scope: plan.chance(0.5) ? [plan.pick(SCOPES)] : [],
    priority: plan.int(1, 10),
    dependencies: i === 0 ? [] : [0, 1].filter(() => plan.chance(0.45)).map(() => `t${plan.int(0, i - 1)}`),
  }));
  if (!stage.calm && random.chance(0.06)) tasks[0]!.dependencies = [`t${tasks.length - 1}`];
  return tasks;
}
