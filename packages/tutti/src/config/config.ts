// `readUserConfig` reads the `tutti.config.json` of the data folder, `readProjectConfig` that in the root of a
// repository. The schemas are strict: an unknown setting is rejected with its path, so that a misspelt one does not go
// unnoticed.
import { dirname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { readForeignFile } from "../foreign-file.ts";
import { AutomationName, ScheduleSettings, TriggerSettings } from "../schedule/settings.ts";
import { variableName } from "../schema/api/query.ts";
import { TuttiError } from "../schema/error.ts";
import { SubSessionOptions } from "../schema/options.ts";
import { BUILT_IN_AGENTS } from "../schema/agent/built-in-agents.ts";
import { SandboxMode } from "../schema/agent/sandbox.ts";
import { NotificationSettings } from "../notify/notification-settings.ts";
import { AgentName, MaxWorkers } from "../schema/template.ts";

export const CONFIG_FILE = "tutti.config.json";

/** An `AgentName` cannot be confused with `kind:program`, and an agent of the user not with a built-in one. */
const UserAgentName = AgentName.refine(
  (name) => !BUILT_IN_AGENTS.includes(name),
  "must not be the name of a built-in agent",
);
const Agent = z.string().min(1);
const Place = z.string().regex(/^~?\//, "must be an absolute path or begin with ~/");

const shared = {
  $schema: z.string().optional(),
  /** Agent of runs, unless a flag or a template sets one. */
  agent: Agent.optional(),
  /** Template of `tutti run` without `--template`. */
  template: z.string().min(1).optional(),
  /** Maximum number of parallel workers in a run, unless a flag or a request sets it. */
  maxWorkers: MaxWorkers.optional(),
};

const UserConfig = z.strictObject({
  ...shared,
  /** Agents by user-defined names. `env` lists the environment variables that the agent receives. */
  agents: z.record(UserAgentName, z.strictObject({ agent: Agent, env: z.array(variableName).default([]) })).default({}),
  /** Limits of `tutti serve`, unless a flag sets them. */
  server: z
    .strictObject({
      rateLimit: z.number().int().min(1).optional(),
      folders: z.array(z.string().refine(isAbsolute, "must be an absolute path")).optional(),
    })
    .optional(),
  sandbox: SandboxMode.optional(),
  sessions: z
    .strictObject({
      /** Further files and folders for agents in the sandbox, such as `~/.rustup`. */
      readable: z.array(Place).optional(),
      writable: z.array(Place).optional(),
      /** The most output of one session on disk, in megabytes. An agent that writes more is ended. */
      maxOutputMb: z.number().int().min(1).max(100_000).optional(),
    })
    .optional(),
  /** For sub-sessions outside of natural runs; a natural template has settings of its own. */
  subSessions: SubSessionOptions.strict().optional(),
  /** Ended runs to keep; without `retention`, all of them. */
  retention: z
    .strictObject({
      /** Keeps runs that changed within this many days. */
      days: z.number().int().min(1).optional(),
      /** `keepRuns` keeps this many of the newest runs. */
      keepRuns: z.number().int().min(0).optional(),
    })
    .refine(({ days, keepRuns }) => days !== undefined || keepRuns !== undefined, "must set days or keepRuns")
    .optional(),
  notifications: NotificationSettings.optional(),
  /** Runs that the server starts: `schedules` by cron expressions, `triggers` by signed requests. */
  schedules: z.record(AutomationName, ScheduleSettings).optional(),
  triggers: z.record(AutomationName, TriggerSettings).optional(),
});
export type UserConfig = z.infer<typeof UserConfig>;

/** Unlike `UserConfig` without `env`: a project must not read the user's environment. */
const ProjectConfig = z.strictObject({
  ...shared,
  agents: z.record(UserAgentName, z.strictObject({ agent: Agent })).default({}),
});
export type ProjectConfig = z.infer<typeof ProjectConfig>;

/** Both schemas return this value for an empty file. */
const nothingSet = () => ({ agents: {} });

export function readUserConfig(dataDir: string): UserConfig {
  const file = join(dataDir, CONFIG_FILE);
  const config: UserConfig = read(file, UserConfig) ?? nothingSet();
  const { schedules = {}, triggers = {} } = config;
  for (const each of [...Object.values(schedules), ...Object.values(triggers)]) {
    if (each.agent !== undefined) each.agent = fromFile(file, each.agent);
  }
  for (const each of Object.values(triggers)) {
    if (each.secretFile !== undefined) each.secretFile = resolve(dataDir, each.secretFile);
  }
  return config;
}

export const readProjectConfig = (root: string): ProjectConfig =>
  read(join(root, CONFIG_FILE), ProjectConfig) ?? nothingSet();

/** Null if there is no file: most users have none, and to build a schema takes longer than to open the engine. */
function read<C extends { agent?: string | undefined; agents: Record<string, { agent: string }> }>(
  file: string,
  schema: z.ZodType<C>,
): C | null {
  const content = readJson(file);
  if (content === undefined) return null;
  const parsed = schema.safeParse(content);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(describe);
    throw new TuttiError("usage", `"${file}" is not valid: ${problems.join("; ")}. Correct these settings.`, {
      details: problems,
    });
  }
  const config = parsed.data;
  for (const settings of Object.values(config.agents)) settings.agent = fromFile(file, settings.agent);
  return config.agent === undefined ? config : { ...config, agent: fromFile(file, config.agent) };
}

/** Undefined if there is no file. */
function readJson(file: string): unknown {
  let text: string;
  try {
    text = readForeignFile(file);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new TuttiError("usage", `"${file}" cannot be read: ${(error as Error).message}. Check its permissions.`, {
      cause: error,
    });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TuttiError("usage", `"${file}" is not valid JSON (${(error as Error).message}). Correct it.`, {
      cause: error,
    });
  }
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return `unknown setting ${issue.keys.map((key) => (path === "" ? key : `${path}.${key}`)).join(", ")}`;
  }
  const why = issue.code === "invalid_key" ? issue.issues.map(({ message }) => message).join(", ") : issue.message;
  return `${path === "" ? "the file" : path}: ${why}`;
}

function fromFile(file: string, agent: string): string {
  const [, scenario] = /^script:(.+)$/s.exec(agent) ?? [];
  return scenario === undefined || isAbsolute(scenario) ? agent : `script:${join(dirname(file), scenario)}`;
}
