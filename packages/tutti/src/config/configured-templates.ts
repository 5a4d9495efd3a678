// Applies `userConfig` and `projectConfig` to templates: the default agent, `maxWorkers`, and the programs behind the
// agent names of the project. A choice of the project that is wider than the user's own needs consent.
import { CONFIG_FILE, readProjectConfig, type ProjectConfig, type UserConfig } from "./config.ts";
import type { Template } from "../schema/template.ts";
import { programsOfAgents, programsOfChoice } from "../template/trust.ts";

/** The template of runs without any choice. */
const USUAL = "_default";

interface Resolved {
  template: Template;
  programs: string[];
  warnings: string[];
}

interface Templates {
  resolve(id: string, project?: string): Resolved;
}

export function withConfig(templates: Templates, user: () => UserConfig): Templates {
  return {
    resolve(id, project) {
      const resolved = templates.resolve(id, project);
      const userConfig = user();
      const projectConfig: ProjectConfig = project === undefined ? { agents: {} } : readProjectConfig(project);
      const programs = [
        ...withoutProjectNames(resolved.programs, projectConfig),
        ...programsOf(projectConfig, userConfig),
        ...maxWorkersOf(projectConfig, userConfig),
        ...(projectConfig.template === id ? programsOfTemplate(templates, resolved, projectConfig, userConfig) : []),
      ];
      return { ...resolved, programs, template: applyConfig(resolved.template, projectConfig, userConfig) };
    },
  };
}

/** Lists programs of a `ProjectConfig` that need the user's consent, even if this run does not use them. */
function programsOf({ agent, agents }: ProjectConfig, userConfig: UserConfig): string[] {
  const named = Object.entries(agents).map(([name, settings]) => [`${CONFIG_FILE} agents.${name}`, settings.agent]);
  // A name that `agents` defines is already in the list.
  if (agent !== undefined && !Object.hasOwn(agents, agent)) named.push([`${CONFIG_FILE} agent`, agent]);
  return programsOfAgents(Object.fromEntries(named) as Record<string, string>, Object.keys(userConfig.agents));
}

/** The user's own template `id` may be wider than the one that runs have otherwise. */
function programsOfTemplate(
  templates: Templates,
  { template }: Resolved,
  { template: id }: ProjectConfig,
  { template: chosen = USUAL }: UserConfig,
): string[] {
  if (id === chosen) return [];
  const setting = `${CONFIG_FILE} template ${JSON.stringify(id)}`;
  const usual = templates.resolve(USUAL).template;
  return programsOfChoice(setting, template, resolveOrNull(templates, chosen) ?? usual, usual);
}

/** The user's configuration may name a template that does not exist. A run with another one starts nevertheless. */
function resolveOrNull(templates: Templates, id: string): Template | null {
  try {
    return templates.resolve(id).template;
  } catch {
    return null;
  }
}

const maxWorkersOf = ({ maxWorkers }: ProjectConfig, { maxWorkers: limit }: UserConfig): string[] =>
  maxWorkers !== undefined && limit !== undefined && maxWorkers > limit
    ? [`${CONFIG_FILE} maxWorkers: ${maxWorkers}`]
    : [];

/** Removes names that the project's configuration defines: `programsOf` lists their programs. */
const withoutProjectNames = (programs: readonly string[], { agents }: ProjectConfig): string[] =>
  programs.filter((line) => !Object.keys(agents).some((name) => line.endsWith(`.agent: ${JSON.stringify(name)}`)));

function applyConfig(template: Template, projectConfig: ProjectConfig, userConfig: UserConfig): Template {
  /** The run stores the program that the user agreed to, not the name of the project for it. */
  const resolveAgent = (agent: string): string =>
    Object.hasOwn(projectConfig.agents, agent) ? projectConfig.agents[agent]!.agent : agent;
  const agent = template.config.agent ?? projectConfig.agent ?? userConfig.agent;
  const maxWorkers = projectConfig.maxWorkers ?? userConfig.maxWorkers ?? template.config.maxWorkers;
  const phases = Object.fromEntries(
    Object.entries(template.phases).map(([name, phase]) => [
      name,
      phase.agent === undefined ? phase : { ...phase, agent: resolveAgent(phase.agent) },
    ]),
  ) as Template["phases"];
  for (const listed of Object.values(phases.workerExecution.agents ?? {})) listed.agent = resolveAgent(listed.agent);
  for (const role of Object.values(template.roles ?? {})) if (role.agent) role.agent = resolveAgent(role.agent);
  return {
    ...template,
    phases,
    config: { ...template.config, maxWorkers, ...(agent === undefined ? {} : { agent: resolveAgent(agent) }) },
  };
}
