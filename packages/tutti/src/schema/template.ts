// A template, resolved: every setting has its value. What a template file may leave out is filled in from its parent
// and, in the end, from the defaults here. What no part of Tutti reads is not a setting: unknown members are refused.
import { z } from "zod";
import { Budget } from "./budget.ts";
import { Hooks } from "./hook.ts";
import { Permissions } from "./permissions.ts";

const strings = z.array(z.string().min(1));
const milliseconds = (min: number, max: number) => z.number().int().min(min).max(max);

/** What the answer must hold beyond the phase's own schema. */
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

/** What every phase can say about who carries it out. */
const phase = {
  /** The agent of this phase, if it is not the run's. */
  agent: z.string().min(1).optional(),
  /** The role that the session of this phase is given. */
  role: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,40}$/)
    .optional(),
  tools: z.strictObject({ required: strings.default([]), subagentType: z.string().min(1).optional() }).optional(),
};
const timed = (timeout: number, enabled = true) => ({
  ...phase,
  enabled: z.boolean().default(enabled),
  timeout: z.number().int().min(10_000).default(timeout),
});

const Phases = z.strictObject({
  analysis: z.strictObject(timed(120_000)).prefault({}),
  taskPlanning: z
    .strictObject({
      ...timed(180_000),
      /** A plan outside these bounds is shown with a warning. */
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
      /** How long the phase may take as a whole; without it only each worker's own time counts. */
      timeout: z.number().int().min(10_000).optional(),
      progressReporting: z.boolean().default(true),
      progressInterval: milliseconds(1000, 3_600_000).default(30_000),
      /** Last lines that stand for a completion block: the first for success, the second for failure. */
      completionMarkers: z.array(z.string().min(3)).max(2).default([]),
    })
    .prefault({}),
  aggregation: z
    .strictObject({
      ...timed(300_000),
      mergeStrategy: z.enum(["concatenate", "smart-merge", "manual"]).default("smart-merge"),
      conflictResolution: z.enum(["ask", "first-wins", "last-wins", "smart"]).default("smart"),
      /** Leave the phase out when no two tasks changed the same file. */
      skipWhenIndependent: z.boolean().default(false),
    })
    .prefault({}),
  verification: z.strictObject(timed(180_000, false)).prefault({}),
});

export const TemplateConfig = z.strictObject({
  /** Who works, unless a phase or the person says otherwise. */
  agent: z.string().min(1).optional(),
  maxWorkers: z.number().int().min(1).max(20).default(5),
  workerTimeout: milliseconds(10_000, 3_600_000).default(300_000),
  /** How long a worker may say and do nothing; without it only `workerTimeout` counts. */
  idleTimeout: milliseconds(10_000, 3_600_000).optional(),
  /** How long an agent that shows every step may show none, and do nothing, before its process is started anew. */
  stallTimeout: milliseconds(10_000, 3_600_000).default(180_000),
  /** How often the work of a worker that is still at it is saved; 0 for never. */
  saveInterval: milliseconds(0, 3_600_000).default(60_000),
  /** How long an agent's question waits for a person; then its first option holds, or the agent is to decide itself. */
  answerTimeout: milliseconds(1000, 604_800_000).optional(),
  /** Whether a run that waits for the end of a provider's usage limit goes on by itself then, and how often at most. */
  autoResume: z.boolean().default(false),
  maxAutoResumes: z.number().int().min(1).max(50).default(3),
  /** Confirm the plan without asking. */
  autoSpawn: z.boolean().default(false),
  parallelExecution: z.boolean().default(true),
  /** Whether a failed task may be tried again at all. */
  retryOnError: z.boolean().default(true),
  maxRetries: z.number().int().min(0).max(5).default(2),
  /** Whether it is tried again without being asked. */
  autoRetry: z.boolean().default(false),
  /** The wait before the first automatic retry; it doubles with each. */
  retryDelay: milliseconds(0, 3_600_000).default(5000),
  /** What becomes of a task whose dependency did not complete. */
  failedDependency: z.enum(["skip", "continue", "fail"]).default("skip"),
  /** Whether tasks that name the same files may run at the same time. */
  overlappingScopes: z.enum(["apart", "allow"]).default("apart"),
  /** Which end of the scale from 1 to 10 is the urgent one in the plans of this template's agents. */
  priorityOrder: z.enum(["lowest-first", "highest-first"]).default("lowest-first"),
  sessionPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,40}$/)
    .default("__orch_"),
  /** Between two starts of workers. */
  spawnDelay: milliseconds(0, 60_000).default(0),
  /** A worker that shows nothing for this long is marked as quiet; nothing else follows. */
  progressDetectionInterval: milliseconds(1000, 3_600_000).default(30_000),
  /** For session controllers that can only be polled. */
  pollInterval: milliseconds(500, 30_000).default(2000),
  hideWorkersFromList: z.boolean().default(true),
  useSubSessions: z.boolean().default(false),
  inactivityThreshold: milliseconds(1000, 3_600_000).default(60_000),
  confirmationDelay: milliseconds(0, 3_600_000).default(30_000),
  /** Accept a report of success from a worker that called no tool and changed nothing. */
  acceptWithoutWork: z.boolean().default(false),
  budget: Budget.prefault({}),
  /** What agents may do without asking a person. */
  permissions: Permissions.prefault({}),
});
export type TemplateConfig = z.infer<typeof TemplateConfig>;

export const WORKER_COLUMNS = ["status", "progress", "tools", "time", "tokens", "files"] as const;

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

export const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

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
});

export const Template = Shape.superRefine((template, context) => {
  if (!template.phases.verification.enabled || template.prompts.verification) return;
  context.addIssue({
    code: "custom",
    path: ["prompts", "verification"],
    message: "the verification phase is enabled and has no prompt",
  });
});
export type Template = z.infer<typeof Template>;
