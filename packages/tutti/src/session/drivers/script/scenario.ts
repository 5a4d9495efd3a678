// The shape of a scenario file.
import { z } from "zod";

/** Phases by the names of the prompts, and by those of the blocks and of everyday speech. */
const PHASE_NAMES: Record<string, string> = {
  task_list: "taskPlanning",
  planning: "taskPlanning",
  completion: "workerExecution",
  worker: "workerExecution",
  work: "workerExecution",
};
const SCENARIO_PHASES = [
  "analysis",
  "taskPlanning",
  "workerExecution",
  "aggregation",
  "verification",
  ...Object.keys(PHASE_NAMES),
];

const THEN = /^(?:end|crash|hang|exit:\d{1,3}|ask:.+)$/s;

export const ScenarioTurn = z.strictObject({
  /** Waits before anything else. */
  delayMs: z.number().min(0).optional(),
  say: z.string().optional(),
  /** Writes the message in pieces of this many bytes, so that everything is cut everywhere. */
  chunkBytes: z.number().int().min(1).optional(),
  tools: z.array(z.string()).optional(),
  /** Files to write in the workspace. */
  write: z.record(z.string(), z.string()).optional(),
  /** A block to say, between the run's delimiters. */
  block: z.object({ phase: z.string(), data: z.record(z.string(), z.unknown()) }).optional(),
  usage: z
    .object({ inputTokens: z.number().optional(), outputTokens: z.number().optional(), usd: z.number().optional() })
    .optional(),
  then: z.string().regex(THEN, "one of end, crash, hang, exit:CODE, ask:QUESTION").optional(),
});
export type ScenarioTurn = z.infer<typeof ScenarioTurn>;

export const Scenario = z.strictObject({
  sessions: z
    .array(
      z.strictObject({
        match: z
          .strictObject({
            role: z.string().optional(),
            task: z.string().optional(),
            attempt: z.number().int().optional(),
            phase: z.enum(SCENARIO_PHASES).optional(),
          })
          .default({}),
        turns: z.array(ScenarioTurn).min(1),
      }),
    )
    .min(1),
});
export type Scenario = z.infer<typeof Scenario>;

const plain = (phase: string): string => PHASE_NAMES[phase] ?? phase;

export interface Where {
  role: string;
  task: string | null;
  attempt: number;
  phase: string;
}

/** The index of the first session entry that fits, or -1. A missing field fits anything. */
export function matchSession(scenario: Scenario, where: Where): number {
  return scenario.sessions.findIndex(({ match }) => {
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
