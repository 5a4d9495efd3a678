// `matchSession` selects the entry of a scenario that a session plays. The player does not validate the file, because
// loading zod takes longer than the rest of it; `readScenario` did so when the run was created.
import type { z } from "zod";
import type { Scenario } from "./scenario.ts";

/** `PHASE_NAMES` are aliases of phases: the names of the blocks, and short forms. */
export const PHASE_NAMES: Record<string, string> = {
  task_list: "taskPlanning",
  planning: "taskPlanning",
  completion: "workerExecution",
  worker: "workerExecution",
  work: "workerExecution",
};

const resolvePhase = (phase: string): string => PHASE_NAMES[phase] ?? phase;

export interface Where {
  role: string;
  teamRole?: string | undefined;
  task: string | null;
  attempt: number;
  phase: string;
}

/** -1 if no entry matches. In `matchSession` a missing field matches anything. */
export function matchSession(scenario: Pick<z.input<typeof Scenario>, "sessions">, where: Where): number {
  return scenario.sessions.findIndex(({ match = {} }) => {
    if (match.role !== undefined && match.role !== where.role && match.role !== where.teamRole) return false;
    if (match.task !== undefined && !(where.task !== null && globMatches(match.task, where.task))) return false;
    if (match.attempt !== undefined && match.attempt !== where.attempt) return false;
    return match.phase === undefined || resolvePhase(match.phase) === resolvePhase(where.phase);
  });
}

/** `*` matches any text, `?` any character. `globMatches` backtracks only to the last star. */
export function globMatches(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (g < glob.length && glob[g] !== "*" && (glob[g] === "?" || glob[g] === text[t])) {
      g++;
      t++;
    } else if (glob[g] === "*") {
      star = g++;
      mark = t;
    } else if (star >= 0) {
      g = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (glob[g] === "*") g++;
  return g === glob.length;
}
