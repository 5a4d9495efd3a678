// `agentsByRole` lists the phases and roles for which a request may choose another agent than the template, and
// `chooseAgents` replaces their agents. `mainAgent` and `workerAgent` decide which agent a session gets, so a phase or role
// is listed only if they read its agent.
import { TuttiError } from "../../schema/error.ts";
import { PHASES } from "../../schema/status.ts";
import { leadOf, OUTSIDE } from "../../schema/team/roles.ts";
import type { Template } from "../../schema/template.ts";

/** `agent` is undefined if the agent of the run is used. In a team, roles do the tasks and the lead the other phases. */
export function agentsByRole({
  phases,
  roles,
}: Pick<Template, "phases" | "roles">): [name: string, agent: string | undefined][] {
  const hasLead = roles !== undefined && Object.hasOwn(roles, leadOf(roles));
  const ofPhases = PHASES.filter((name) => phases[name].enabled && !(roles && (hasLead || name === "workerExecution")));
  return [
    ...ofPhases.map((name): [string, string | undefined] => [name, phases[name].agent]),
    ...Object.entries(roles ?? {}).map(([name, { agent }]): [string, string | undefined] => [name, agent]),
  ];
}

/** A role that gets another agent loses its `model`, which belongs to the agent of the template. */
export function chooseAgents(template: Template, chosen: Readonly<Record<string, string>>): Template {
  const current = new Map(agentsByRole(template));
  const changed = Object.entries(chosen).filter(([name, agent]) => !current.has(name) || current.get(name) !== agent);
  return changed.reduce((all, [name, agent]) => {
    if (!current.has(name)) {
      const known = [...current.keys()].join(", ");
      throw new TuttiError(
        "invalid_input",
        `The template "${template.id}" starts no agent for "${name}". Choose from ${known}.`,
      );
    }
    if (agent === OUTSIDE)
      throw new TuttiError("invalid_input", `A request cannot give "${name}" the agent "${OUTSIDE}". Name another.`);
    const { roles, phases } = all;
    if (roles && Object.hasOwn(roles, name)) {
      const { model: _, ...role } = roles[name]!;
      return { ...all, roles: { ...roles, [name]: { ...role, agent } } };
    }
    const phase = name as keyof Template["phases"];
    return { ...all, phases: { ...phases, [phase]: { ...phases[phase], agent } } };
  }, template);
}
