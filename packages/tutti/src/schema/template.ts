// A template, resolved: every setting has its value. What a template file may leave out is filled in from its parent
// and, in the end, from the defaults here.
import { z } from "zod";

const Prompt = z.object({ system: z.string().min(1), user: z.string().optional() });
export type Prompt = z.infer<typeof Prompt>;

const timed = (timeout: number, enabled = true) =>
  z.object({ enabled: z.boolean().default(enabled), timeout: z.number().int().min(10_000).default(timeout) });

export const TemplateConfig = z.object({
  maxWorkers: z.number().int().min(1).max(20).default(5),
  workerTimeout: z.number().int().min(10_000).max(3_600_000).default(300_000),
  autoSpawn: z.boolean().default(false),
  parallelExecution: z.boolean().default(true),
  retryOnError: z.boolean().default(true),
  maxRetries: z.number().int().min(0).max(5).default(2),
  sessionPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,40}$/)
    .default("__orch_"),
  pollInterval: z.number().int().min(500).max(30_000).default(2000),
  hideWorkersFromList: z.boolean().default(true),
  /** Accept a report of success from a worker that called no tool and changed nothing. */
  acceptWithoutWork: z.boolean().default(false),
});
export type TemplateConfig = z.infer<typeof TemplateConfig>;

export const Template = z.object({
  id: z.string().regex(/^[a-z0-9_-]+$/),
  name: z.string().min(1),
  description: z.string().default(""),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/)
    .default("1.0.0"),
  author: z.string().default("system"),
  extends: z.string().optional(),
  config: TemplateConfig.prefault({}),
  phases: z
    .object({
      analysis: timed(120_000).prefault({}),
      taskPlanning: timed(180_000).prefault({}),
      aggregation: timed(300_000).prefault({}),
      verification: timed(180_000, false).prefault({}),
    })
    .prefault({}),
  prompts: z.object({
    responseFormat: z
      .object({
        delimiterStart: z.string().min(1).default("<<<ORCHESTRATOR_RESPONSE>>>"),
        delimiterEnd: z.string().min(1).default("<<<END_ORCHESTRATOR_RESPONSE>>>"),
      })
      .prefault({}),
    analysis: Prompt,
    taskPlanning: Prompt,
    worker: Prompt,
    aggregation: Prompt,
    verification: Prompt,
  }),
  variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});
export type Template = z.infer<typeof Template>;
