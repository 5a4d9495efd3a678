// The schema of a resolved `Template`, in which every setting has a value. Settings that a template file omits come
// from its parent, and finally from the defaults here. Unknown members are rejected.
import { z } from "zod";
import { Budget } from "./budget.ts";
import { Hooks } from "./hook.ts";
import { Permissions } from "./permissions.ts";
import { ModelName } from "./task.ts";
import { GateSettings } from "./team/gate.ts";
import {
  findPipelineProblems,
  findRoleProblems,
  isAuditor,
  isDeployer,
  leadOf,
  PipelineStep,
  RoleName,
  TeamRole,
  TeamSettings,
  workingRoles,
} from "./team/roles.ts";

const strings = z.array(z.string().min(1));
const milliseconds = (min: number, max: number) => z.number().int().min(min).max(max);

/** `requiredFields` are in addition to the schema of the phase. */
const AnswerFormat = z.strictObject({
  phase: z.string().optional(),
  requiredFields: strings.default([]),
  optionalFields: strings.default([]),
  taskSchema: z.strictObject({ required: strings.default([]), optional: strings.default([]) }).prefault({}),
  progressPhase: z.literal("progress").optional(),
  completionPhase: z.literal("completion").optional(),
});

const Prompt = z.strictObject({
  system: z.string().min(1),
  user: z.string().optional(),
  format: AnswerFormat.optional(),
});
export type Prompt = z.infer<typeof Prompt>;

const phase = {
  agent: z.string().min(1).optional(),
  /** Defaults to `worker` for `workerExecution`, else to `main`. */
  role: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,40}$/)
    .optional(),
  tools: z.strictObject({ required: strings.default([]), subagentType: z.string().min(1).optional() }).optional(),
};

export const AgentName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,60}$/, "must be a name of letters, digits, _, . and -");

const ListedAgent = z.strictObject({
  agent: z.string().min(1),
  /** Defaults to the agent's own choice. */
  model: ModelName.optional(),
  /** Shown to the planner. */
  strengths: z.string().min(1).optional(),
  price: z.string().min(1).optional(),
});

const timed = (timeout: number, enabled = true) => ({
  ...phase,
  enabled: z.boolean().default(enabled),
  timeout: z.number().int().min(10_000).default(timeout),
});

const CheckCommand = z.strictObject({
  name: z.string().min(1).max(100),
  /** For `sh -c`. */
  run: z.string().min(1),
  timeout: milliseconds(1, 3_600_000).optional(),
});
export type CheckCommand = z.infer<typeof CheckCommand>;

/** `auto` for those that the files of the project suggest. */
const CheckCommands = z.union([z.literal("auto"), z.array(CheckCommand).max(20)]);
export type CheckCommands = z.infer<typeof CheckCommands>;

const Phases = z.strictObject({
  analysis: z.strictObject(timed(120_000)).prefault({}),
  taskPlanning: z
    .strictObject({
      ...timed(180_000),
      /** A plan outside these bounds gets a warning. */
      validation: z
        .strictObject({
          minTasks: z.number().int().min(0).default(1),
          maxTasks: z.number().int().min(1).default(50),
          requireDependencies: z.boolean().default(false),
          requireScope: z.boolean().default(true),
        })
        .prefault({}),
    })
    .prefault({}),
  workerExecution: z
    .strictObject({
      ...phase,
      enabled: z.boolean().default(true),
      /** Limit for the phase as a whole, in milliseconds. Without it only `workerTimeout` applies. */
      timeout: z.number().int().min(10_000).optional(),
      progressReporting: z.boolean().default(true),
      progressInterval: milliseconds(1000, 3_600_000).default(30_000),
      /** Last lines that replace a completion block: the first means success, the second failure. */
      completionMarkers: z.array(z.string().min(3)).max(2).default([]),
      /** Agents that the planner may assign to tasks, by the name that a task uses. */
      agents: z.record(AgentName, ListedAgent).optional(),
    })
    .prefault({}),
  aggregation: z
    .strictObject({
      ...timed(300_000),
      mergeStrategy: z.enum(["concatenate", "smart-merge", "manual"]).default("smart-merge"),
      conflictResolution: z.enum(["ask", "first-wins", "last-wins", "smart"]).default("smart"),
      /** Skip the phase if no two tasks changed the same file. */
      skipWhenIndependent: z.boolean().default(false),
      /** The combined files must pass these `CheckCommands` before the work of a task is merged. */
      commands: CheckCommands.optional(),
    })
    .prefault({}),
  verification: z
    .strictObject({
      ...timed(180_000, false),
      /** `CheckCommands` to run in the merged tree. */
      commands: CheckCommands.optional(),
      /** Gives the main session one more turn if a command or the verification fails. */
      autoFix: z.boolean().optional(),
    })
    .prefault({}),
});

/** A reader of these defaults alone need not build the schema. */
export const DEFAULT_AUTO_RESUMES = 3;
export const DEFAULT_MAX_RETRIES = 2;

export const MaxWorkers = z.number().int().min(1).max(20);

export const TemplateConfig = z.strictObject({
  /** Default agent. A phase or the user may choose another. */
  agent: z.string().min(1).optional(),
  maxWorkers: MaxWorkers.default(5),
  workerTimeout: milliseconds(10_000, 3_600_000).default(300_000),
  /** A worker without output or tool calls for this long times out. Without it only `workerTimeout` applies. */
  idleTimeout: milliseconds(10_000, 3_600_000).optional(),
  /** An agent that reports every step and reports none for this long is restarted. */
  stallTimeout: milliseconds(10_000, 3_600_000).default(180_000),
  /** Interval at which the work of a running worker is committed; 0 turns this off. */
  saveInterval: milliseconds(0, 3_600_000).default(60_000),
  /** How long a question waits for the user. Then its first option is chosen, or the agent is asked to decide. */
  answerTimeout: milliseconds(1000, 604_800_000).optional(),
  /** Resume a run by itself when the usage limit that paused it ends, at most `maxAutoResumes` times. */
  autoResume: z.boolean().default(false),
  maxAutoResumes: z.number().int().min(1).max(50).default(DEFAULT_AUTO_RESUMES),
  autoSpawn: z.boolean().default(false),
  /** Start the agent of the task that will probably follow while another one works. It waits for its prompt. */
  warmSessions: z.boolean().default(false),
  parallelExecution: z.boolean().default(true),
  retryOnError: z.boolean().default(true),
  maxRetries: z.number().int().min(0).max(5).default(DEFAULT_MAX_RETRIES),
  /** Retry failed tasks without a user request, up to `maxRetries` times. */
  autoRetry: z.boolean().default(false),
  /** Wait before the first retry by `autoRetry`. It doubles with each retry. */
  retryDelay: milliseconds(0, 3_600_000).default(5000),
  /** A task with a dependency that did not complete is blocked, starts anyway, or fails the run. */
  failedDependency: z.enum(["skip", "continue", "fail"]).default("skip"),
  /** Whether tasks with scopes that name the same files may run at the same time. */
  overlappingScopes: z.enum(["apart", "allow"]).default("apart"),
  /**
   * Conflicts between tasks that are still at work: `hold` also pauses the task that started later until the other one
   * ends. They are found when work is saved; see `saveInterval`.
   */
  emergingConflicts: z.enum(["ignore", "report", "hold"]).default("report"),
  /** Defines whether 1 or 10 is the most urgent priority in the plans of this template's agents. */
  priorityOrder: z.enum(["lowest-first", "highest-first"]).default("lowest-first"),
  sessionPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,40}$/)
    .default("__orch_"),
  spawnDelay: milliseconds(0, 60_000).default(0),
  /** A worker without output for this long is displayed as quiet. */
  progressDetectionInterval: milliseconds(1000, 3_600_000).default(30_000),
  pollInterval: milliseconds(500, 30_000).default(2000),
  hideWorkersFromList: z.boolean().default(true),
  useSubSessions: z.boolean().default(false),
  inactivityThreshold: milliseconds(1000, 3_600_000).default(60_000),
  confirmationDelay: milliseconds(0, 3_600_000).default(30_000),
  /** Accept success from a worker that called no tool and changed no file. */
  acceptWithoutWork: z.boolean().default(false),
  budget: Budget.prefault({}),
  permissions: Permissions.prefault({}),
  sandbox: z.strictObject({ network: z.boolean().default(true) }).optional(),
});
export type TemplateConfig = z.infer<typeof TemplateConfig>;

const WORKER_COLUMNS = ["status", "progress", "tools", "time", "tokens", "files"] as const;

const Ui = z.strictObject({
  color: z
    .string()
    .regex(/^#[0-9A-Fa-f]{6}$/)
    .default("#666666"),
  icon: z.string().default("layers"),
  showWorkerDetails: z.boolean().default(true),
  showTokenEstimate: z.boolean().default(true),
  showProgressBar: z.boolean().default(true),
  progressStyle: z.enum(["minimal", "detailed", "compact", "simple"]).default("detailed"),
  workerColumns: z.array(z.enum(WORKER_COLUMNS)).default(["status", "progress", "tools", "time"]),
});

/** Each name is a path relative to the run's folder, and `refine` keeps it inside the project. */
const outsideNames = z
  .array(
    z
      .string()
      .min(1)
      .refine(
        (name) => !name.startsWith("/") && !name.split(/[/\\]/).some((part) => /^(\.{0,2}|\.git)$/i.test(part)),
        "must be a relative path inside the project, and not in .git",
      ),
  )
  .max(50);

/**
 * `copy` and `link` are files of the user's folder that workspaces get although git ignores them. `setup` runs in a new
 * workspace.
 */
const WorkspaceSettings = z.strictObject({
  copy: outsideNames.optional(),
  /** Agents can change the linked files of the user's folder. */
  link: outsideNames.optional(),
  setup: z.array(CheckCommand).max(20).optional(),
  /** A workspace has only the files of its task's scope and of the folders above it; the agent can get more. */
  sparse: z.boolean().optional(),
});

const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

const Shape = z.strictObject({
  $schema: z.string().optional(),
  id: z.string().regex(/^[a-z0-9_-]+$/),
  name: z.string().min(1),
  description: z.string().default(""),
  icon: z.string().optional(),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/)
    .default("1.0.0"),
  author: z.string().default("system"),
  tags: z.array(z.string()).default([]),
  extends: z.string().optional(),
  config: TemplateConfig.prefault({}),
  phases: Phases.prefault({}),
  prompts: z.strictObject({
    responseFormat: z
      .strictObject({
        delimiterStart: z.string().min(1).default("<<<ORCHESTRATOR_RESPONSE>>>"),
        delimiterEnd: z.string().min(1).default("<<<END_ORCHESTRATOR_RESPONSE>>>"),
        type: z.literal("json", "only json can be read").default("json"),
      })
      .prefault({}),
    analysis: Prompt,
    taskPlanning: Prompt,
    worker: Prompt,
    aggregation: Prompt,
    verification: Prompt.optional(),
  }),
  variables: z.record(z.string().regex(VARIABLE_NAME), z.union([z.string(), z.number(), z.boolean()])).default({}),
  hooks: Hooks.prefault({}),
  ui: Ui.prefault({}),
  workspace: WorkspaceSettings.optional(),
  /** The roles of a team, by name. */
  roles: z.record(RoleName, TeamRole).optional(),
  /** The fixed plan of a team. Each `PipelineStep` becomes a task. */
  pipeline: z.array(PipelineStep).min(1).optional(),
  team: TeamSettings.optional(),
  /** Policies of the security gate. Every pipeline with a deployment has a gate. */
  gate: GateSettings.optional(),
});

export const Template = Shape.superRefine((template, context) => {
  const problems = [...findTeamProblems(template), ...findWarmProblems(template)];
  if (template.phases.verification.enabled && !template.prompts.verification) {
    problems.push({
      path: ["prompts", "verification"],
      message: "the verification phase is enabled but has no prompt",
    });
  }
  for (const problem of problems) context.addIssue({ code: "custom", ...problem });
});

/** A warm agent starts before its workspace has the files of `WorkspaceSettings`, and before its role has a message. */
function findWarmProblems({ config, workspace, roles }: z.infer<typeof Shape>): { path: string[]; message: string }[] {
  if (!config.warmSessions) return [];
  const { sparse = false, ...lists } = workspace ?? {};
  const used = sparse ? "sparse" : (["copy", "link", "setup"] as const).find((name) => (lists[name]?.length ?? 0) > 0);
  const other = roles ? "roles" : used && `workspace.${used}`;
  return other ? [{ path: ["config", "warmSessions"], message: `must be false in a template with ${other}` }] : [];
}

/** A team has a pipeline, or a lead that plans. Reviews and deployments need a pipeline, and the gate a deployment. */
function findTeamProblems(template: z.infer<typeof Shape>): { path: (string | number)[]; message: string }[] {
  const { roles = {}, pipeline, gate, phases } = template;
  if (!pipeline) return findPlannedTeamProblems(template);
  const problems = [...findPipelineProblems(roles, pipeline), ...findRoleProblems(roles)];
  for (const name of ["analysis", "taskPlanning"] as const) {
    if (phases[name].enabled)
      problems.push({ path: ["phases", name, "enabled"], message: "must be false, because the pipeline is the plan" });
  }
  if (template.team?.continuous)
    problems.push({ path: ["team", "continuous"], message: "needs a lead that plans instead of a pipeline" });
  const hasDeployment = pipeline.some(({ role }) => isDeployer(roles, role));
  if (gate && !hasDeployment) problems.push({ path: ["gate"], message: "needs a pipeline with a deployment" });
  for (const [name, { protocol, workspace }] of Object.entries(roles)) {
    // Another role may delegate a task to it, which no gate would hold back.
    if (isDeployer(roles, name) && !hasDeployment)
      problems.push({ path: ["roles", name], message: "needs a pipeline with a security review" });
    if (!isAuditor(roles, name)) continue;
    if (protocol !== "messages")
      problems.push({ path: ["roles", name, "protocol"], message: 'must be "messages" for the security review' });
    if (workspace !== "read")
      problems.push({ path: ["roles", name, "workspace"], message: 'must be "read": a review changes no code' });
  }
  return problems;
}

function findPlannedTeamProblems(template: z.infer<typeof Shape>): { path: (string | number)[]; message: string }[] {
  const { roles, team, gate, phases } = template;
  if (roles?.[leadOf(roles)]?.protocol === "delegation") return findDelegationProblems(template);
  const problems: { path: (string | number)[]; message: string }[] = [];
  if (gate) problems.push({ path: ["gate"], message: "needs a pipeline that uses it" });
  if (!roles) return team ? [...problems, { path: ["team"], message: "needs roles" }] : problems;
  if (workingRoles(roles).length === 0) problems.push({ path: ["roles"], message: "needs a role besides the lead" });
  if (!phases.taskPlanning.enabled)
    problems.push({ path: ["phases", "taskPlanning", "enabled"], message: "must be true without a pipeline" });
  const gated = Object.keys(roles).filter((name) => isAuditor(roles, name) || isDeployer(roles, name));
  problems.push(...gated.map((name) => ({ path: ["roles", name], message: "needs a pipeline that uses it" })));
  return [...problems, ...findRoleProblems(roles)];
}

/** With `delegation`, the main session assigns the work itself. Without a `pipeline` no gate can guard a deployment. */
function findDelegationProblems(template: z.infer<typeof Shape>): { path: (string | number)[]; message: string }[] {
  const { roles = {}, gate, phases, team } = template;
  const needed = (["taskPlanning", "workerExecution"] as const).filter((name) => !phases[name].enabled);
  const deployers = Object.keys(roles).filter((name) => isDeployer(roles, name));
  return [
    ...needed.map((name) => ({
      path: ["phases", name, "enabled"],
      message: "must be true, because the lead delegates",
    })),
    ...deployers.map((name) => ({ path: ["roles", name], message: "needs a pipeline with a security review" })),
    ...(gate ? [{ path: ["gate"], message: "needs a pipeline with a deployment" }] : []),
    ...(team?.continuous ? [{ path: ["team", "continuous"], message: "needs a lead that does not delegate" }] : []),
    ...findRoleProblems(roles),
  ];
}
export type Template = z.infer<typeof Template>;
