// `assignedAgent` returns the agent and role of a phase: those of the template, or the defaults of the run.
import type { Run } from "../../schema/run.ts";
import type { Phase } from "../../schema/status.ts";

export interface AssignedAgent {
  agent: string;
  role: string;
}

export function assignedAgent(run: Run, phase: Phase): AssignedAgent {
  const { agent, role } = run.template.phases[phase];
  return { agent: agent ?? run.agent, role: role ?? (phase === "workerExecution" ? "worker" : "main") };
}
