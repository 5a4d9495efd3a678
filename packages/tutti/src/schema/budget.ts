// At a limit of its `Budget` a run pauses and asks the user for more. A missing member means no limit.
import { z } from "zod";

export const Budget = z.strictObject({
  usd: z.number().positive().optional(),
  /** Sum of input and output tokens. */
  tokens: z.number().int().positive().optional(),
  /** Minutes since the start of the run, without pauses and waits for the user or a provider. */
  minutes: z.number().positive().optional(),
  /** Turns of all sessions of the run. */
  turns: z.number().int().positive().optional(),
  /** Maximum nesting depth of sub-sessions. */
  depth: z.number().int().min(0).optional(),
  /** Sessions of the run. */
  descendants: z.number().int().positive().optional(),
});
export type Budget = z.infer<typeof Budget>;
export const BUDGET_KINDS = ["usd", "tokens", "minutes", "turns", "depth", "descendants"] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];
