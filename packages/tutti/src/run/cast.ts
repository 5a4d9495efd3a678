// `castOf` returns the agent and role of a phase: those of the template, or the defaults of the run.
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";

export interface Cast {
  agent: string;
  role: string;
}

export function castOf(run: Run, phase: Phase): Cast {
  const { agent, role } = run.template.phases[phase];
  return { agent: agent ?? run.agent, role: role ?? (phase === "workerExecution" ? "worker" : "main") };
}
