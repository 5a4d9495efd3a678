// Schemas of the members `schedules` and `triggers` in the user's configuration.
import { z } from "zod";
import { isTimeZone, problemOfCron, systemTimeZone, type Rule } from "./cron.ts";
import { absolutePath, variableName, words } from "../schema/api/query.ts";
import { Budget } from "../schema/budget.ts";

export const AutomationName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,60}$/, "must be a name of letters, digits, _, . and -");

const MAX_CONCURRENT = 100;

const run = {
  template: z.string().min(1),
  cwd: absolutePath,
  message: words,
  variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  /** Without `agent`, the template's agent. */
  agent: z.string().min(1).optional(),
  budget: Budget.default({}),
  maxConcurrent: z.int().min(1).max(MAX_CONCURRENT).default(1),
  /** `ask` puts the plan into the inbox; `yes` executes it without confirmation. */
  confirm: z.enum(["ask", "yes"]).default("ask"),
  enabled: z.boolean().default(true),
};

export const ScheduleSettings = z.strictObject({
  cron: z.string().superRefine((cron, context) => {
    const problem = problemOfCron(cron);
    if (problem !== null) context.addIssue(problem);
  }),
  /** Without `timeZone`, the machine's. */
  timeZone: z.string().refine(isTimeZone, "must be the name of a time zone, such as Europe/Paris").optional(),
  /**
   * For times that became due while no run could start: `skip` drops them, `once` starts one run as soon as possible.
   */
  missed: z.enum(["skip", "once"]).default("skip"),
  ...run,
});
export type ScheduleSettings = z.infer<typeof ScheduleSettings>;

export const TriggerSettings = z
  .strictObject({
    /** The environment variable of the server that holds the secret; `secretFile` is the alternative. */
    secretEnv: variableName.optional(),
    secretFile: z.string().min(1).optional(),
    ...run,
  })
  .refine(
    ({ secretEnv, secretFile }) => (secretEnv === undefined) !== (secretFile === undefined),
    "must have either secretEnv or secretFile",
  );
export type TriggerSettings = z.infer<typeof TriggerSettings>;

export type RunSettings = Pick<ScheduleSettings, keyof typeof run>;

export interface Automation {
  schedules: Readonly<Record<string, ScheduleSettings>>;
  triggers: Readonly<Record<string, TriggerSettings>>;
}

export const ruleOf = ({ cron, timeZone }: Pick<ScheduleSettings, "cron" | "timeZone">): Rule => ({
  cron,
  timeZone: timeZone ?? systemTimeZone(),
});
