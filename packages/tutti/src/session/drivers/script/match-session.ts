// Which part of a scenario a session plays. The player reads it without the schema, which takes longer to load than all
// the rest of it; the file was checked when the run was made.
import type { z } from "zod";
import type { Scenario } from "./scenario.ts";

/** Phases by the names of the prompts, and by those of the blocks and of everyday speech. */
export const PHASE_NAMES: Record<string, string> = {
  task_list: "taskPlanning",
  planning: "taskPlanning",
  completion: "workerExecution",
  worker: "workerExecution",
  work: "workerExecution",
};

const plain = (phase: string): string => PHASE_NAMES[phase] ?? phase;

export interface Where {
  role: string;
  task: string | null;
  attempt: number;
  phase: string;
}

/** The index of the first session entry that fits, or -1. A missing field fits anything. */
export function matchSession(scenario: Pick<z.input<typeof Scenario>, "sessions">, where: Where): number {
  return scenario.sessions.findIndex(({ match = {} }) => {
    if (match.role !== undefined && match.role !== where.role) return false;
    if (match.task !== undefined && !(where.task !== null && globMatches(match.task, where.task))) return false;
    if (match.attempt !== undefined && match.attempt !== where.attempt) return false;
    return match.phase === undefined || plain(match.phase) === plain(where.phase);
  });
}

/** `*` is any run of characters, `?` any one; everything else stands for itself. Linear in the text for each star. */
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
