// Agent, model, role and labels of a session: those of its task, of the template (`assignedAgent`), or of the run.
import { leadOfRun, roleOf } from "../team/team.ts";
import type { Run } from "../../schema/run.ts";
import type { Phase } from "../../schema/status.ts";
import type { HostLabels, Task } from "../../schema/task.ts";

interface AssignedAgent {
  agent: string;
  role: string;
  model?: string;
  /** The session needs a worker host with these `HostLabels`. */
  labels?: HostLabels;
}

function assignedAgent(run: Run, phase: Phase): AssignedAgent {
  const { agent, role } = run.template.phases[phase];
  return { agent: agent ?? run.agent, role: role ?? (phase === "workerExecution" ? "worker" : "main") };
}

/** The agent of the main session for the answer that it owes. In a team, `leadOfRun` also answers the workers. */
export function mainAgent(run: Run): AssignedAgent {
  const phase = run.owed?.phase ?? "analysis";
  const lead = roleOf(run, { role: leadOfRun(run) ?? undefined });
  const assigned = phase === "workerExecution" ? { agent: run.agent, role: "main" } : assignedAgent(run, phase);
  const model = lead?.model;
  return { ...assigned, ...(lead?.agent ? { agent: lead.agent } : {}), ...(model === undefined ? {} : { model }) };
}

/** `task.agent` may be a name in the template's list, which also gives a model. */
export function workerAgent(run: Run, task: Task): AssignedAgent {
  const { agents = {} } = run.template.phases.workerExecution;
  const listed = task.agent !== undefined && Object.hasOwn(agents, task.agent) ? agents[task.agent]! : null;
  const usual = assignedAgent(run, "workerExecution");
  const role = roleOf(run, task);
  const model = task.model ?? listed?.model ?? role?.model;
  const agent = listed?.agent ?? task.agent ?? role?.agent ?? usual.agent;
  const labels = { ...role?.labels, ...task.labels };
  const needed = Object.keys(labels).length > 0 ? { labels } : {};
  return { ...usual, agent, ...(model === undefined ? {} : { model }), ...needed };
}

const agentsOfPlans = new WeakMap<readonly Task[], readonly string[]>();

/** The agents of all tasks. Computed once per plan (`agentsOfPlans`), because `run.tasks` is replaced as a whole. */
export function workerAgents(run: Run): readonly string[] {
  const known = agentsOfPlans.get(run.tasks);
  if (known) return known;
  const agents = [...new Set(run.tasks.map((task) => workerAgent(run, task).agent))];
  agentsOfPlans.set(run.tasks, agents);
  return agents;
}

/**
 * Names that a model may assign to the tasks of its plan: those in the template, in `run.assignableAgents`, and the
 * usual one.
 */
export function assignableAgents(run: Run): ReadonlySet<string> {
  const listed = Object.keys(run.template.phases.workerExecution.agents ?? {});
  return new Set([...listed, ...(run.assignableAgents ?? []), assignedAgent(run, "workerExecution").agent]);
}
