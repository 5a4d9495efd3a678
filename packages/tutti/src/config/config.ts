// Settings of a person and of a project: `tutti.config.json` in the data folder and in the root of a repository. Strict:
// what no part of Tutti reads is refused with its path, so that nobody relies on a misspelt setting.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { AutomationName, ScheduleSettings, TriggerSettings } from "../schedule/settings.ts";
import { TuttiError } from "../schema/error.ts";
import { NotificationSettings } from "../schema/notification-settings.ts";
import { TemplateConfig } from "../schema/template.ts";

export const CONFIG_FILE = "tutti.config.json";

/** A name that cannot be taken for `kind:program`, nor for one of the agents that are always there. */
const AgentName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,60}$/, "a name of letters, digits, _, . and -")
  .refine((name) => !["local", "claude", "codex"].includes(name), "not the name of an agent that is always there");
const Agent = z.string().min(1);
const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable");

const shared = {
  $schema: z.string().optional(),
  /** Who works, unless a flag or a template says otherwise. */
  agent: Agent.optional(),
  /** The template of `tutti run`, unless a flag says otherwise. */
  template: z.string().min(1).optional(),
  /** Workers at the same time, unless a flag or a request says otherwise. */
  maxWorkers: TemplateConfig.shape.maxWorkers.unwrap().optional(),
};

const UserConfig = z.strictObject({
  ...shared,
  /** Agents by names of the person's own. `env` names variables of the environment that this agent is given. */
  agents: z.record(AgentName, z.strictObject({ agent: Agent, env: z.array(VariableName).default([]) })).default({}),
  /** What `tutti serve` holds back, unless a flag says otherwise. */
  server: z
    .strictObject({
      /** Requests that one address may make in a minute. */
      rateLimit: z.number().int().min(1).optional(),
      /** The folders that runs may use. */
      folders: z.array(z.string().refine(isAbsolute, "an absolute path")).optional(),
    })
    .optional(),
  /** Which runs that are over are kept; all of them without it. */
  retention: z
    .strictObject({
      /** Those that changed within so many days. */
      days: z.number().int().min(1).optional(),
      /** So many of them, the newest. */
      keepRuns: z.number().int().min(0).optional(),
    })
    .refine(({ days, keepRuns }) => days !== undefined || keepRuns !== undefined, "days or keepRuns, or both")
    .optional(),
  /** Who else is told when something needs the person, fails or ends. */
  notifications: NotificationSettings.optional(),
  /** Runs at the times of cron expressions, and at a signed request; the server makes them. */
  schedules: z.record(AutomationName, ScheduleSettings).optional(),
  triggers: z.record(AutomationName, TriggerSettings).optional(),
});
export type UserConfig = z.infer<typeof UserConfig>;

/** A project names no variables of the person's environment. */
const ProjectConfig = z.strictObject({
  ...shared,
  agents: z.record(AgentName, z.strictObject({ agent: Agent })).default({}),
});
export type ProjectConfig = z.infer<typeof ProjectConfig>;

/** The person's own, from the data folder. */
export function readUserConfig(dataDir: string): UserConfig {
  const file = join(dataDir, CONFIG_FILE);
  const config = read(file, UserConfig);
  const { schedules = {}, triggers = {} } = config;
  for (const each of [...Object.values(schedules), ...Object.values(triggers)]) {
    if (each.agent !== undefined) each.agent = fromFile(file, each.agent);
  }
  for (const each of Object.values(triggers)) {
    if (each.secretFile !== undefined) each.secretFile = resolve(dataDir, each.secretFile);
  }
  return config;
}

/** A project's, from the root of its repository. */
export const readProjectConfig = (root: string): ProjectConfig => read(join(root, CONFIG_FILE), ProjectConfig);

function read<C extends { agent?: string | undefined; agents: Record<string, { agent: string }> }>(
  file: string,
  schema: z.ZodType<C>,
): C {
  const parsed = schema.safeParse(readJson(file));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(describe);
    throw new TuttiError("usage", `${file} cannot be used: ${problems.join("; ")}`, { details: problems });
  }
  const config = parsed.data;
  for (const settings of Object.values(config.agents)) settings.agent = fromFile(file, settings.agent);
  return config.agent === undefined ? config : { ...config, agent: fromFile(file, config.agent) };
}

/** No file is a file that says nothing. */
function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw new TuttiError("usage", `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TuttiError("usage", `${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return `there is no setting ${issue.keys.map((key) => (path === "" ? key : `${path}.${key}`)).join(", ")}`;
  }
  const why = issue.code === "invalid_key" ? issue.issues.map(({ message }) => message).join(", ") : issue.message;
  return `${path === "" ? "it" : path}: ${why}`;
}

/** A scenario's file is named from where the configuration lies. */
function fromFile(file: string, agent: string): string {
  const [, scenario] = /^script:(.+)$/s.exec(agent) ?? [];
  return scenario === undefined || isAbsolute(scenario) ? agent : `script:${join(dirname(file), scenario)}`;
}
