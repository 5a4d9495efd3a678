// What the person's own configuration says of runs that nobody starts by hand: at which times, and at whose signed word.
import { z } from "zod";
import { isTimeZone, problemOfCron, systemTimeZone, type Rule } from "./cron.ts";
import { absolutePath, words } from "../schema/api/query.ts";
import { Budget } from "../schema/budget.ts";

export const AutomationName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,60}$/, "a name of letters, digits, _, . and -");

const MAX_CONCURRENT = 100;

/** What a run is made from. */
const run = {
  template: z.string().min(1),
  cwd: absolutePath,
  message: words,
  variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  /** Who works; without it the template's agent, as for any other run. */
  agent: z.string().min(1).optional(),
  budget: Budget.default({}),
  /** Runs of it that may be not over at the same time. */
  maxConcurrent: z.int().min(1).max(MAX_CONCURRENT).default(1),
  /** Whether the plan waits for a person in the inbox, or is carried out without asking. */
  confirm: z.enum(["ask", "yes"]).default("ask"),
  enabled: z.boolean().default(true),
};

export const ScheduleSettings = z.strictObject({
  cron: z.string().superRefine((cron, context) => {
    const problem = problemOfCron(cron);
    if (problem !== null) context.addIssue(problem);
  }),
  /** The machine's own unless given. */
  timeZone: z.string().refine(isTimeZone, "the name of a time zone, such as Europe/Paris").optional(),
  /** What becomes of a time at which nothing could be started: nothing, or one run as soon as it can. */
  missed: z.enum(["skip", "once"]).default("skip"),
  ...run,
});
export type ScheduleSettings = z.infer<typeof ScheduleSettings>;

export const TriggerSettings = z
  .strictObject({
    /** The variable of the server's environment, or the file, that holds the secret. */
    secretEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable")
      .optional(),
    secretFile: z.string().min(1).optional(),
    ...run,
  })
  .refine(
    ({ secretEnv, secretFile }) => (secretEnv === undefined) !== (secretFile === undefined),
    "either secretEnv or secretFile",
  );
export type TriggerSettings = z.infer<typeof TriggerSettings>;

/** What both have in common. */
export type RunSettings = Pick<ScheduleSettings, keyof typeof run>;

export interface Automation {
  schedules: Readonly<Record<string, ScheduleSettings>>;
  triggers: Readonly<Record<string, TriggerSettings>>;
}

export const ruleOf = ({ cron, timeZone }: Pick<ScheduleSettings, "cron" | "timeZone">): Rule => ({
  cron,
  timeZone: timeZone ?? systemTimeZone(),
});
