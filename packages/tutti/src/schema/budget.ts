// How much a run may use before it asks for more. What is left out is not limited.
import { z } from "zod";

export const Budget = z.strictObject({
  usd: z.number().positive().optional(),
  /** Input and output together. */
  tokens: z.number().int().positive().optional(),
  /** From the start of the run; time in which it was paused or waited for a person does not count. */
  minutes: z.number().positive().optional(),
  /** Turns of all its sessions. */
  turns: z.number().int().positive().optional(),
  /** How deep sub-sessions may nest. */
  depth: z.number().int().min(0).optional(),
  /** Sessions of the run, sub-sessions included. */
  descendants: z.number().int().positive().optional(),
});
export type Budget = z.infer<typeof Budget>;
export const BUDGET_KINDS = ["usd", "tokens", "minutes", "turns", "depth", "descendants"] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];
