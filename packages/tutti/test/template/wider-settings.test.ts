// Every setting that a project's files may contain is either harmless, for a reason, or needs the user's consent.
import { describe, expect, it } from "vitest";
import { everySetting } from "./every-setting.ts";
import { TemplateLab } from "./template-lab.ts";
import type { ProjectConfig, UserConfig } from "../../src/config/config.ts";
import { withConfig } from "../../src/config/configured-templates.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustHash } from "../../src/template/trust.ts";

/** With `own` in a project's template that extends a user's with `outer`, the user has to agree to `line`. */
interface Wider {
  /** The shipped template that the user's extends. */
  base?: string;
  outer?: object;
  own: object;
  line: string;
}

const config = (own: object, line: string, outer: object = {}): Wider => ({
  outer: { config: outer },
  own: { config: own },
  line: `config.${line}`,
});
const inPhase = (phase: string, own: object, line: string, outer: object = {}): Wider => ({
  outer: { phases: { [phase]: outer } },
  own: { phases: { [phase]: own } },
  line: `phases.${phase}.${line}`,
});
const agentOf = (phase: string): Wider => inPhase(phase, { agent: "command:a" }, 'agent: "command:a"');
const TEST = { name: "tests", run: "npm test", timeout: 5 };
const LISTED = '[{"name":"tests","run":"npm test","timeout":5}]';
const checksOf = (phase: string): Wider => inPhase(phase, { commands: [TEST] }, `commands: ${LISTED}`);
const setup: Wider = { own: { workspace: { setup: [TEST] } }, line: `workspace.setup: ${LISTED}` };
const gate = (own: object, line: string): Wider => ({ base: "feature", own: { gate: own }, line: `gate.${line}` });
const team = (own: object, line: string, outer: object = {}): Wider => {
  const roles = { BUILDER: {} };
  return { outer: { roles, team: outer }, own: { team: own }, line: `team.${line}` };
};
const role = (own: object, line: string, outer: object = {}): Wider => ({
  outer: { roles: { BUILDER: outer } },
  own: { roles: { BUILDER: own } },
  line: `roles.BUILDER.${line}`,
});
const HOOKS = [
  "onAnalysisComplete",
  "onTasksGenerated",
  "onWorkerStart",
  "onWorkerComplete",
  "onAllWorkersComplete",
  "onError",
];

const WIDER: Record<string, Wider | Wider[]> = {
  "config.agent": config({ agent: "command:a" }, 'agent: "command:a"'),
  "config.answerTimeout": config({ answerTimeout: 1000 }, "answerTimeout: 1000"),
  "config.autoResume": config({ autoResume: true }, "autoResume: true"),
  "config.maxAutoResumes": config({ maxAutoResumes: 4 }, "maxAutoResumes: 4"),
  "config.autoSpawn": config({ autoSpawn: true }, "autoSpawn: true"),
  "config.maxRetries": config({ maxRetries: 3 }, "maxRetries: 3"),
  "config.autoRetry": config({ autoRetry: true }, "autoRetry: true"),
  "config.useSubSessions": config({ useSubSessions: true }, "useSubSessions: true"),
  "config.acceptWithoutWork": config({ acceptWithoutWork: true }, "acceptWithoutWork: true"),
  ...Object.fromEntries(
    ["usd", "tokens", "minutes", "turns", "depth", "descendants"].map((kind) => [
      `config.budget.${kind}`,
      config({ budget: { [kind]: 9 } }, `budget.${kind}: 9`, { budget: { [kind]: 8 } }),
    ]),
  ),
  "config.permissions.mode": config({ permissions: { mode: "all" } }, 'permissions.mode: "all"'),
  "config.permissions.allow": config({ permissions: { allow: ["Bash"] } }, 'permissions.allow: ["Bash"]'),
  "config.permissions.refuse": config({ permissions: { refuse: [] } }, "permissions.refuse: []", {
    permissions: { refuse: ["Bash"] },
  }),
  "config.sandbox.network": config({ sandbox: { network: true } }, "sandbox.network: true", {
    sandbox: { network: false },
  }),
  ...Object.fromEntries(
    ["analysis", "taskPlanning", "workerExecution", "aggregation", "verification"].map((phase) => [
      `phases.${phase}.agent`,
      agentOf(phase),
    ]),
  ),
  "phases.workerExecution.enabled": inPhase("workerExecution", { enabled: false }, "enabled: false"),
  "phases.workerExecution.agents.agent": inPhase(
    "workerExecution",
    { agents: { fast: { agent: "command:a" } } },
    'agents.fast.agent: "command:a"',
  ),
  "phases.aggregation.enabled": [
    inPhase("aggregation", { enabled: false }, "enabled: false", { conflictResolution: "ask" }),
    inPhase("aggregation", { enabled: false }, "enabled: false", { mergeStrategy: "manual" }),
  ],
  "phases.aggregation.mergeStrategy": inPhase(
    "aggregation",
    { mergeStrategy: "smart-merge" },
    'mergeStrategy: "smart-merge"',
    { mergeStrategy: "manual" },
  ),
  "phases.aggregation.conflictResolution": inPhase(
    "aggregation",
    { conflictResolution: "smart" },
    'conflictResolution: "smart"',
    { conflictResolution: "ask" },
  ),
  "phases.aggregation.commands.*": checksOf("aggregation"),
  "phases.verification.enabled": inPhase("verification", { enabled: false }, "enabled: false", { enabled: true }),
  "phases.verification.commands.*": checksOf("verification"),
  ...Object.fromEntries(
    HOOKS.flatMap((hook) => [
      [`hooks.${hook}.run`, { own: { hooks: { [hook]: "command:a" } }, line: `hooks.${hook}.run: "command:a"` }],
      [
        `hooks.${hook}.onFailure`,
        {
          outer: { hooks: { [hook]: { run: "check", onFailure: "pause" } } },
          own: { hooks: { [hook]: { onFailure: "continue" } } },
          line: `hooks.${hook}.onFailure: "continue"`,
        },
      ],
    ]),
  ),
  "workspace.copy": { own: { workspace: { copy: [".env"] } }, line: 'workspace.copy: [".env"]' },
  "workspace.link": { own: { workspace: { link: ["deps"] } }, line: 'workspace.link: ["deps"]' },
  "workspace.setup.*": setup,
  "roles.agent": role({ agent: "command:a" }, 'agent: "command:a"'),
  "roles.workspace": role({ workspace: "write" }, 'workspace: "write"', { workspace: "read" }),
  "team.deadline": team({ deadline: 2000 }, "deadline: 2000", { deadline: 1000 }),
  "team.continuous": team({ continuous: true }, "continuous: true"),
  "team.breaker": team({ breaker: 4 }, "breaker: 4"),
  "gate.environment": gate({ environment: "production" }, 'environment: "production"'),
  "gate.environments.override": gate(
    { environments: { staging: { override: true } } },
    "environments.staging.override: true",
  ),
  "gate.environments.conditional": gate(
    { environments: { staging: { conditional: true } } },
    "environments.staging.conditional: true",
  ),
};

const TIMES = "Times and intervals decide when work ends or is shown. Budgets limit it.";
const HARMLESS: Record<string, string> = {
  $schema: "Only editors read it.",
  id: "A template with the id of another one is listed as its replacement, see `trust.test.ts`.",
  ...Object.fromEntries(
    ["name", "description", "icon", "version", "author", "tags"].map((name) => [name, "Shown, and nothing else."]),
  ),
  extends: "What the project's own templates change is compared with the first template that is not the project's.",
  "config.maxWorkers": "More workers at a time do not do more work. The user's own limit is in the configuration.",
  "config.workerTimeout": TIMES,
  "config.idleTimeout": TIMES,
  "config.stallTimeout": TIMES,
  "config.saveInterval": TIMES,
  "config.retryDelay": TIMES,
  "config.spawnDelay": TIMES,
  "config.progressDetectionInterval": TIMES,
  "config.pollInterval": TIMES,
  "config.inactivityThreshold": TIMES,
  "config.confirmationDelay": TIMES,
  "config.warmSessions": "An agent starts before its prompt, with the same rights.",
  "config.parallelExecution": "The order of tasks.",
  "config.priorityOrder": "The order of tasks.",
  "config.overlappingScopes": "The order of tasks.",
  "config.emergingConflicts": "The order of tasks.",
  "config.failedDependency": "The order of tasks.",
  "config.retryOnError": "Allows the user to retry. `autoRetry` does it without the user.",
  "config.sessionPrefix": "A part of names.",
  "config.hideWorkersFromList": "Shown or not; the run has them in both cases.",
  "phases.analysis.enabled": "The user confirms the plan in both cases.",
  "phases.taskPlanning.enabled": "The user confirms the request as the only task.",
  "phases.*.role": "Phases of one role share a session with the same rights.",
  "phases.*.tools.*": "Words in a prompt.",
  "phases.*.timeout": TIMES,
  "phases.taskPlanning.validation.*": "Warnings about the plan, which the user sees anyway.",
  "phases.workerExecution.progressReporting": "Words in a prompt.",
  "phases.workerExecution.progressInterval": TIMES,
  "phases.workerExecution.completionMarkers": "A form of the agent's own claim, which `acceptWithoutWork` checks.",
  "phases.workerExecution.agents.model":
    "A choice among the models of an agent that is approved. Budgets limit the cost.",
  "phases.workerExecution.agents.strengths": "Words in a prompt.",
  "phases.workerExecution.agents.price": "Words in a prompt.",
  "phases.aggregation.skipWhenIndependent": "Skips no conflict.",
  "phases.verification.autoFix": "One more turn with the same rights.",
  "prompts.*": "Words for agents, whose rights limit their effect, like any file of the project.",
  variables: "Words for agents; no command contains them.",
  "hooks.*.timeout": "A hook that is ended has failed, and `onFailure` decides.",
  "ui.*": "Shown, and nothing else.",
  "workspace.sparse": "Fewer files.",
  "roles.aliases": "`check-gate` keeps the steps of a gate that the parent has.",
  "roles.model": "A choice among the models of an agent that is approved. Budgets limit the cost.",
  "roles.labels": "A choice among the hosts that the user has set up for agents. Planners have it, too.",
  "roles.protocol": "The form of an answer.",
  "pipeline.*": "`check-gate` keeps the steps of a gate that the parent has.",
  "team.rejectionLimit": "How often work is repeated. Budgets limit it.",
  "team.ackTimeout": TIMES,
  "team.resendLimit": TIMES,
  "team.recycleAfter": "The size of a conversation.",
  "team.recycleAt": "The size of a conversation.",
  "team.contextWindow": "The size of a conversation.",
  "gate.environments.approvalTtl": "`check-gate` rejects a longer one than the parent has.",
};

/** A star at the end stands for all settings below, any other one for a single name. */
const matches = (pattern: string, setting: string): boolean => {
  const [names, found] = [pattern.split("."), setting.split(".")];
  const isWhole = names.at(-1) === "*" ? found.length >= names.length : found.length === names.length;
  return isWhole && names.every((name, i) => name === "*" || name === found[i]);
};

describe("a setting of a project's template", () => {
  const settings = everySetting();

  it("needs consent or is harmless for a reason: a new one has to be decided", () => {
    const patterns = Object.keys({ ...WIDER, ...HARMLESS });
    const deciding = (setting: string): string[] => {
      const found = patterns.filter((pattern) => matches(pattern, setting));
      return found.includes(setting) ? [setting] : found;
    };
    expect(settings.length).toBeGreaterThan(150);
    expect(settings.filter((setting) => deciding(setting).length !== 1)).toEqual([]);
    expect(patterns.filter((pattern) => !settings.some((setting) => deciding(setting).includes(pattern)))).toEqual([]);
  });

  const cases = Object.entries(WIDER).flatMap(([path, wider]) =>
    [wider].flat().map((each): [string, Wider] => [path, each]),
  );
  it.each(cases)("needs consent if it is wider than the user's: %s", (_, { base = "_default", outer, own, line }) => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: base, ...outer });
    lab.ofProject("ours", { extends: "mine" });
    const before = lab.open().resolve("ours", lab.project).programs;
    lab.ofProject("ours", { extends: "mine", ...own });
    const after = lab.open().resolve("ours", lab.project).programs;
    expect([before, after]).toEqual([[], [line]]);
    expect(trustHash(after)).not.toBe(trustHash(before));
    // The same value of the user needs none.
    lab.user("wide", { extends: "mine", ...own });
    lab.ofProject("ours", { extends: "wide" });
    expect(lab.open().resolve("ours", lab.project).programs).toEqual([]);
  });
});

describe("a setting of a project's configuration", () => {
  const programs = (own: Partial<ProjectConfig>, mine: Partial<UserConfig> = {}): string[] => {
    const lab = new TemplateLab();
    lab.user("bold", { extends: "_default", config: { autoSpawn: true, permissions: { mode: "all" } } });
    lab.user("auto", { extends: "_default", config: { autoSpawn: true } });
    lab.user("checked", { extends: "_default", phases: { aggregation: { conflictResolution: "ask" } } });
    lab.user("careful", { extends: "_default", config: { permissions: { mode: "listed" } } });
    writeFileSync(join(lab.project, "tutti.config.json"), JSON.stringify(own));
    const templates = withConfig(lab.open(), () => ({ agents: {}, ...mine }));
    return templates.resolve(own.template ?? "_default", lab.project).programs;
  };
  /** The type makes a new setting fail the check of types until it is decided. */
  const cases: Record<keyof ProjectConfig, [own: Partial<ProjectConfig>, mine: Partial<UserConfig>, string[]][]> = {
    $schema: [[{ $schema: "x" }, {}, []]],
    agent: [
      [{ agent: "command:a" }, {}, ['tutti.config.json agent: "command:a"']],
      [{ agent: "claude" }, {}, []],
    ],
    agents: [[{ agents: { x: { agent: "command:a" } } }, {}, ['tutti.config.json agents.x: "command:a"']]],
    template: [
      [
        { template: "bold" },
        {},
        [
          'tutti.config.json template "bold" with config.autoSpawn: true',
          'tutti.config.json template "bold" with config.permissions.mode: "all"',
        ],
      ],
      [{ template: "bold" }, { template: "bold" }, []],
      [
        { template: "_default" },
        { template: "careful" },
        ['tutti.config.json template "_default" with config.permissions.mode: "edits"'],
      ],
      [{ template: "careful" }, { template: "missing" }, []],
      [{ template: "documentation" }, {}, []],
      // The project's template has fewer questions than the user's choice, but no fewer than usual.
      [{ template: "_default" }, { template: "checked" }, []],
      [
        { template: "bold" },
        { template: "auto" },
        ['tutti.config.json template "bold" with config.permissions.mode: "all"'],
      ],
    ],
    maxWorkers: [
      [{ maxWorkers: 9 }, { maxWorkers: 3 }, ["tutti.config.json maxWorkers: 9"]],
      [{ maxWorkers: 3 }, { maxWorkers: 9 }, []],
      [{ maxWorkers: 9 }, {}, []],
    ],
  };

  it.each(Object.values(cases).flat())("%j, where the user has %j, needs consent to %j", (own, mine, lines) => {
    expect(programs(own, mine).toSorted()).toEqual(lines);
  });
});
