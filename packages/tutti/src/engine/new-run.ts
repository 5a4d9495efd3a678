// What is asked for when a run is created, and everything that can be refused before one exists.
import type { z } from "zod";
import { unknownHooks, type HookFunction } from "./hooks.ts";
import { providerOf } from "../run/provider-name.ts";
import type { Budget } from "../schema/budget.ts";
import { TuttiError } from "../schema/error.ts";
import type { Idempotency } from "../schema/event.ts";
import { TemplateConfig, type Template } from "../schema/template.ts";
import type { SessionHost } from "../session/session.ts";
import { trustHash } from "../template/trust.ts";
import type { Workspaces } from "../workspace/workspace.ts";

export interface NewRun {
  templateId: string;
  cwd: string;
  message: string;
  /** Who works; the template's own agent if it names one, else the built-in one. */
  agent?: string | undefined;
  customVariables?: Record<string, unknown>;
  /** Settings that override the template's. */
  config?: Partial<TemplateConfig>;
  budget?: Budget;
  /** The hash of what the person agreed to let a project's template run. */
  trust?: string | undefined;
  /** What the request is called, so that it can be known again. */
  idempotency?: Idempotency;
  /** Refuses, by throwing, a repository that whoever asks may not use. */
  mayUse?: (root: string) => void;
}

/** Where templates come from; the project is the run's repository. */
export interface Templates {
  resolve(id: string, project?: string): { template: Template; programs: string[]; warnings: string[] };
}

export interface Surroundings {
  workspaces: Workspaces;
  sessions: SessionHost;
  templates: Templates;
  /** Whether the person has agreed before to what a project's template would run. */
  isTrusted?: (hash: string) => boolean;
  /** What templates can name as hooks. */
  hooks?: Readonly<Record<string, HookFunction>>;
}

const DEFAULT_AGENT = "local";

export async function prepareRun(
  request: NewRun,
  around: Surroundings,
): Promise<{ cwd: string; template: Template; agent: string; providers: Record<string, string> }> {
  if (request.message.trim() === "") throw new TuttiError("invalid_input", "a run needs a request in words");
  const { root, prefix } = await around.workspaces.inspect(request.cwd);
  request.mayUse?.(root);
  const cwd = prefix === "" ? root : `${root}/${prefix}`;
  const template = templateFor(request, root, around);
  const agent = request.agent ?? template.config.agent ?? DEFAULT_AGENT;
  const agents = [agent, ...Object.values(template.phases).flatMap((phase) => phase.agent ?? [])];
  for (const each of new Set(agents)) around.sessions.check(each, cwd);
  return { cwd, template, agent, providers: providersOf(agents, around.sessions) };
}

/** Of agents whose name the person has chosen: the name does not say who stands behind them, and may mean another one day. */
function providersOf(agents: readonly string[], sessions: SessionHost): Record<string, string> {
  const real = agents.map((agent) => [agent, sessions.meant?.(agent) ?? agent] as const);
  return Object.fromEntries(real.flatMap(([agent, meant]) => (meant === agent ? [] : [[agent, providerOf(meant)]])));
}

/** The template as this run will use it: resolved, agreed to, and with what the person set for this run. */
function templateFor(request: NewRun, project: string, around: Surroundings): Template {
  const { templateId, config = {}, budget = {}, trust } = request;
  const { template, programs } = around.templates.resolve(templateId, project);
  demandTrust(programs, `the template ${templateId} of this project`, trust, around);
  const missing = unknownHooks(template, around.hooks ?? {});
  if (missing.length > 0) throw new TuttiError("invalid_template", `template ${templateId}: ${missing.join("; ")}`);
  const settings = { ...config, budget: { ...template.config.budget, ...config.budget, ...budget } };
  return { ...template, config: { ...template.config, ...checkSettings(settings) } };
}

/** Refuses what would run programs, unless the person has agreed to exactly these, now or before. */
export function demandTrust(
  programs: readonly string[],
  who: string,
  trust: string | undefined,
  { isTrusted }: Pick<Surroundings, "isTrusted">,
): void {
  const hash = trustHash(programs);
  if (programs.length === 0 || hash === trust || isTrusted?.(hash)) return;
  throw new TuttiError("needs_trust", `${who} would run ${programs.join("; ")}`, { details: { programs, hash } });
}

/** Settings for one run are held to the same bounds as those of a template. */
function checkSettings(settings: Partial<TemplateConfig>): Partial<TemplateConfig> {
  const known = TemplateConfig.shape as Record<string, z.ZodType>;
  const checked = Object.entries(settings).map(([name, value]) => {
    const parsed = Object.hasOwn(known, name) ? known[name]!.safeParse(value) : null;
    if (parsed?.success) return [name, parsed.data];
    const why = parsed ? parsed.error.issues.map(({ message }) => message).join("; ") : "there is no such setting";
    throw new TuttiError("invalid_input", `config.${name}: ${why}`);
  });
  return Object.fromEntries(checked) as Partial<TemplateConfig>;
}
