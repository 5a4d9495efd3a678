/** The sentences of these codes are Tutti's own. Those of the others are an agent's or its program's, or hold some. */
const OF_TUTTI: ReadonlySet<string> = new Set([
  "agent_not_startable",
  "dependency_failed",
  "gate_closed",
  "missing_output",
  "no_answer",
  "no_work",
  "no_workspace",
  "nothing_completed",
  "output_too_large",
  "request_forged",
  "session_lost",
  "worker_idle",
  "worker_timeout",
]);

export const isOfTutti = (code: string | null | undefined): boolean => OF_TUTTI.has(code ?? "");
