import { isAbsolute, join, relative } from "node:path/posix";
import type { z } from "zod";
import { chooseSandbox } from "./choose-sandbox.ts";
import { unknownHooks, type HookFunction } from "./hooks.ts";
import { chooseAgents } from "../run/plan/agents-by-role.ts";
import { providerOf } from "../run/provider/provider-name.ts";
import type { OrderInput } from "../schema/api/orders.ts";
import type { Budget } from "../schema/budget.ts";
import { TuttiError } from "../schema/error.ts";
import type { Idempotency } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { SandboxMode, SandboxState } from "../schema/agent/sandbox.ts";
import { OUTSIDE } from "../schema/team/roles.ts";
import { TemplateConfig, type Template } from "../schema/template.ts";
import type { SessionHost } from "../session/session.ts";
import { findWiderRights } from "../template/find-wider.ts";
import { programsOfSettings, trustHash } from "../template/trust.ts";
import type { Workspaces } from "../workspace/workspace.ts";

export interface NewRun {
  templateId: string;
  cwd: string;
  message: string;
  /** Defaults to the template's agent, else to `DEFAULT_AGENT`. */
  agent?: string | undefined;
  /** Agents of phases and roles of the template, by the names of `agentsByRole`. */
  roles?: Readonly<Record<string, string>> | undefined;
  customVariables?: Record<string, unknown>;
  config?: Partial<TemplateConfig>;
  budget?: Budget;
  /** `trustHash` of the programs and settings that the user allows. */
  trust?: string | undefined;
  /** Id of an ended run. The new run starts from its result and knows what was done. */
  after?: string | undefined;
  /** Files and folders, relative to `cwd`, to which the result is limited. */
  scope?: readonly string[] | undefined;
  /** Defaults to `sandboxMode` of the engine. */
  sandbox?: SandboxMode | undefined;
  idempotency?: Idempotency;
  /** Throws for a repository that the caller may not use. */
  mayUse?: (root: string) => void;
  /** Throws if the caller may not let agents do more than the template does. `settings` are the paths in the request. */
  mayWiden?: (settings: readonly string[]) => void;
}

/** `project` is the run's repository. */
export interface Templates {
  resolve(id: string, project?: string): { template: Template; programs: string[]; warnings: string[] };
}

export interface CreationContext {
  workspaces: Workspaces;
  sessions: SessionHost;
  templates: Templates;
  isTrusted?: (hash: string) => boolean;
  hooks?: Readonly<Record<string, HookFunction>>;
  /** The mode of a `NewRun` without `sandbox`. */
  sandboxMode?: () => SandboxMode;
  /** Rejects a `NewRun` with another mode than `required`. */
  requiresSandbox?: boolean;
}

const DEFAULT_AGENT = "local";

interface PreparedRun {
  cwd: string;
  template: Template;
  agent: string;
  providers: Record<string, string>;
  assignableAgents: string[];
  /** Relative to the root of the repository. */
  scope: string[];
  sandbox: SandboxState;
}

export async function prepareRun(request: NewRun, around: CreationContext): Promise<PreparedRun> {
  if (request.message.trim() === "")
    throw new TuttiError("invalid_input", "The request is empty. Describe the work in words.");
  const { root, prefix, programs = [], isCopy } = await around.workspaces.locate(request.cwd);
  request.mayUse?.(root);
  const cwd = prefix === "" ? root : `${root}/${prefix}`;
  const chosen = templateFor(request, root, programsOfSettings(programs), around);
  const template = isCopy ? { ...chosen, config: { ...chosen.config, parallelExecution: false } } : chosen;
  const agent = request.agent ?? template.config.agent ?? DEFAULT_AGENT;
  const listed = Object.values(template.phases.workerExecution.agents ?? {}).map((each) => each.agent);
  const ofRoles = Object.values(template.roles ?? {}).flatMap((role) => role.agent ?? []);
  const started = ofRoles.filter((each) => each !== OUTSIDE);
  const ofPhases = Object.values(template.phases).flatMap((phase) => phase.agent ?? []);
  const agents = [agent, ...ofPhases, ...started, ...listed];
  for (const each of new Set(agents)) around.sessions.check(each, cwd);
  checkTools(template, agent, around.sessions);
  const assignableAgents = around.sessions.agentNames?.() ?? [];
  const providers = providersOf([...agents, ...assignableAgents], around.sessions);
  const scope = scopeIn(root, prefix, request.scope);
  const sandbox = await chooseSandbox(request.sandbox, around);
  if (programs.length > 0) await around.workspaces.acceptPrograms(cwd);
  return { cwd, template, agent, providers, assignableAgents, scope, sandbox };
}

/** Throws for a role that reports with tools which its agent cannot call. */
function checkTools({ roles = {}, phases }: Template, agentOfRun: string, sessions: SessionHost): void {
  for (const [name, role] of Object.entries(roles)) {
    const agent = role.agent ?? phases.workerExecution.agent ?? agentOfRun;
    if (role.protocol !== "tools" || sessions.lacksTools?.(agent) !== true) continue;
    const problem = `The role "${name}" reports with MCP tools, which the agent "${agent}" cannot call.`;
    throw new TuttiError("invalid_input", `${problem} Choose another agent for it, or another protocol.`);
  }
}

/** Returns the paths relative to `root`. Empty if one of them is `root` itself. Throws for a path outside of it. */
function scopeIn(root: string, prefix: string, given: readonly string[] = []): string[] {
  const paths = given.map((path) => {
    const inside = (isAbsolute(path) ? relative(root, path) : join(prefix, path)).replace(/\/+$/, "");
    if (inside === ".." || inside.startsWith("../"))
      throw new TuttiError(
        "invalid_input",
        `The scope "${path}" lies outside the repository "${root}". Choose another.`,
      );
    return inside;
  });
  return paths.some((path) => path === "" || path === ".") ? [] : paths;
}

/** Throws if `changes` assign an agent that cannot be used. */
export function checkAssigned(run: Run, sessions: SessionHost, changes: OrderInput<"confirm"> = {}): void {
  const { agents = {} } = run.template.phases.workerExecution;
  const tasks = [...Object.values(changes.modifications ?? {}), ...(changes.added ?? [])];
  const named = new Set(tasks.flatMap(({ agent }) => agent ?? []));
  for (const agent of named) if (!Object.hasOwn(agents, agent)) sessions.check(agent, run.cwd);
}

/**
 * Maps each user-defined agent name to its provider, for example `fast` to `anthropic`. Stored with the run, because
 * the configuration may change.
 */
function providersOf(agents: readonly string[], sessions: SessionHost): Record<string, string> {
  const real = agents.map((agent) => [agent, sessions.resolveAgent?.(agent) ?? agent] as const);
  return Object.fromEntries(real.flatMap(([agent, name]) => (name === agent ? [] : [[agent, providerOf(name)]])));
}

/** `ofGit` are programs in the configuration of git that need the user's consent. */
function templateFor(request: NewRun, project: string, ofGit: readonly string[], around: CreationContext): Template {
  const { templateId, roles = {}, config = {}, budget = {}, trust } = request;
  const { template, programs } = around.templates.resolve(templateId, project);
  demandProjectTrust(templateId, programs, ofGit, trust, around);
  const missing = unknownHooks(template, around.hooks ?? {});
  if (missing.length > 0)
    throw new TuttiError(
      "invalid_template",
      `Template "${templateId}" is invalid: ${missing.join("; ")}. Register the function or remove the hook.`,
    );
  const settings = { ...config, budget: { ...template.config.budget, ...config.budget, ...budget } };
  const checked = checkSettings(mergeGroups(settings, template.config), template.config);
  const own = { ...chooseAgents(template, roles), config: { ...template.config, ...checked } };
  const wider = findWiderRights(own, template).map(([path]) => path.slice(1).replaceAll("/", "."));
  if (wider.length > 0) request.mayWiden?.(wider);
  return own;
}

/** Like the inheritance of templates, a request keeps the members of a group that it does not set. */
function mergeGroups(settings: Partial<TemplateConfig>, inherited: TemplateConfig): Partial<TemplateConfig> {
  const { permissions, sandbox } = settings;
  return {
    ...settings,
    ...(permissions && { permissions: { ...inherited.permissions, ...permissions } }),
    ...(sandbox && { sandbox: { ...inherited.sandbox, ...sandbox } }),
  };
}

/** Asks for the programs of a template and for those of git together, so that one hash allows both. */
function demandProjectTrust(
  templateId: string,
  ofTemplate: readonly string[],
  ofGit: readonly string[],
  trust: string | undefined,
  around: CreationContext,
): void {
  const asked = around.isTrusted?.(trustHash(ofTemplate)) ? [] : ofTemplate;
  const subjects = [
    ...(asked.length > 0 ? [`The template "${templateId}" of this project`] : []),
    ...(ofGit.length > 0 ? ["The configuration of git, which changed during an earlier run,"] : []),
  ];
  demandTrust([...asked, ...ofGit], subjects.join(" and "), trust, around);
}

/**
 * Throws `needs_trust` unless the user has allowed exactly these programs and settings, now with `trust` or before
 * (`isTrusted`).
 */
export function demandTrust(
  programs: readonly string[],
  subject: string,
  trust: string | undefined,
  { isTrusted }: Pick<CreationContext, "isTrusted">,
): void {
  const hash = trustHash(programs);
  if (programs.length === 0 || hash === trust || isTrusted?.(hash)) return;
  throw new TuttiError("needs_trust", `${subject} needs your consent to ${programs.join("; ")}`, {
    details: { programs, hash },
  });
}

/** Validates only the given settings, each with its schema in `TemplateConfig`. `current` are the checked ones. */
function checkSettings(settings: Partial<TemplateConfig>, current: TemplateConfig): Partial<TemplateConfig> {
  const checked = Object.entries(settings).map(([name, value]) => {
    if (isPlainlyValid(value, current[name as keyof TemplateConfig])) return [name, value];
    const known = TemplateConfig.shape as Record<string, z.ZodType>;
    const parsed = Object.hasOwn(known, name) ? known[name]!.safeParse(value) : null;
    if (parsed?.success) return [name, parsed.data];
    const why = parsed ? parsed.error.issues.map(({ message }) => message).join("; ") : "this setting does not exist";
    throw new TuttiError("invalid_input", `The setting "config.${name}" is invalid: ${why}. Correct or remove it.`);
  });
  return Object.fromEntries(checked) as Partial<TemplateConfig>;
}

/**
 * Whether `value` is the `current` one, or both are booleans, as with `--yes`. `TemplateConfig` would load zod, which most
 * runs do not need.
 */
const isPlainlyValid = (value: unknown, current: unknown): boolean =>
  current !== undefined &&
  ((typeof value === "boolean" && typeof current === "boolean") || JSON.stringify(value) === JSON.stringify(current));
