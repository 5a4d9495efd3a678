// Templates as the configurations of the person and of the project complete them: who works where the template does not
// say, how many at the same time, and which programs the project's agents are.
import { CONFIG_FILE, readProjectConfig, type ProjectConfig, type UserConfig } from "./config.ts";
import type { Template } from "../schema/template.ts";
import { programsOfAgents } from "../template/trust.ts";

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
      const own = user();
      const theirs: ProjectConfig = project === undefined ? { agents: {} } : readProjectConfig(project);
      const programs = [...programsLeft(resolved.programs, theirs), ...programsOf(theirs, own)];
      return { ...resolved, programs, template: completed(resolved.template, theirs, own) };
    },
  };
}

/** What a project's configuration would run and the person has to agree to first, whether this run uses it or not. */
function programsOf({ agent, agents }: ProjectConfig, own: UserConfig): string[] {
  const named = Object.entries(agents).map(([name, settings]) => [`${CONFIG_FILE} agents.${name}`, settings.agent]);
  // A name that the same file defines is asked for where it is defined.
  if (agent !== undefined && !Object.hasOwn(agents, agent)) named.push([`${CONFIG_FILE} agent`, agent]);
  return programsOfAgents(Object.fromEntries(named) as Record<string, string>, Object.keys(own.agents));
}

/** The same for names in the project's templates. */
const programsLeft = (programs: readonly string[], { agents }: ProjectConfig): string[] =>
  programs.filter((line) => !Object.keys(agents).some((name) => line.endsWith(`: ${JSON.stringify(name)}`)));

function completed(template: Template, theirs: ProjectConfig, own: UserConfig): Template {
  /** The project's names are replaced by what they stand for, so that the run keeps what was agreed to. */
  const real = (agent: string): string => (Object.hasOwn(theirs.agents, agent) ? theirs.agents[agent]!.agent : agent);
  const agent = template.config.agent ?? theirs.agent ?? own.agent;
  const maxWorkers = theirs.maxWorkers ?? own.maxWorkers ?? template.config.maxWorkers;
  const phases = Object.fromEntries(
    Object.entries(template.phases).map(([name, phase]) => [
      name,
      phase.agent === undefined ? phase : { ...phase, agent: real(phase.agent) },
    ]),
  ) as Template["phases"];
  return {
    ...template,
    phases,
    config: { ...template.config, maxWorkers, ...(agent === undefined ? {} : { agent: real(agent) }) },
  };
}
