import { z } from "zod";
import { PHASE_NAMES } from "./match-session.ts";
import { FAILURE_CAUSES } from "../../../schema/ending.ts";

const SCENARIO_PHASES = [
  "analysis",
  "taskPlanning",
  "workerExecution",
  "aggregation",
  "verification",
  ...Object.keys(PHASE_NAMES),
];

const FAIL = `fail:(?:${FAILURE_CAUSES.join("|")})(?::\\d{1,9})?`;
const THEN = new RegExp(`^(?:end|crash|hang|exit:\\d{1,3}|${FAIL}|ask:.+)$`, "s");

export const ScenarioTurn = z.strictObject({
  delayMs: z.number().min(0).optional(),
  /** The turn waits until `waitForFile` exists, so that a test controls it. */
  waitForFile: z.string().optional(),
  say: z.string().optional(),
  /** Splits the output into pieces of `chunkBytes`, also within lines and characters. */
  chunkBytes: z.number().int().min(1).optional(),
  tools: z.array(z.string()).optional(),
  /** Calls of Tutti's own tools, after the files are written. */
  calls: z.array(z.strictObject({ tool: z.string(), with: z.record(z.string(), z.unknown()).default({}) })).optional(),
  /** Contents by path in the workspace. */
  write: z.record(z.string(), z.string()).optional(),
  /** Written between the run's delimiters. */
  block: z.object({ phase: z.string(), data: z.record(z.string(), z.unknown()) }).optional(),
  usage: z
    .object({
      inputTokens: z.number().optional(),
      outputTokens: z.number().optional(),
      usd: z.number().optional(),
      contextTokens: z.number().optional(),
      contextWindow: z.number().optional(),
    })
    .optional(),
  then: z.string().regex(THEN, "Use one of end, crash, hang, exit:CODE, fail:CAUSE, ask:QUESTION.").optional(),
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
