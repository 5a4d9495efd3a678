// A task: one unit of work for one worker, as the plan gives it.
import { z } from "zod";
import { TaskId } from "./ids.ts";

/** 1 is the most urgent. Words that other protocols use are read too; `critical` is 1, `low` is 8. */
export const PRIORITY_WORDS = { critical: 1, high: 2, medium: 5, normal: 5, low: 8 } as const;
export const DEFAULT_PRIORITY = 5;

export const Task = z.object({
  id: TaskId,
  title: z.string().min(1),
  description: z.string().min(1),
  /** Files or folders to work on; an entry may carry `:start-end` or `:symbol`. */
  scope: z.array(z.string()),
  priority: z.number().min(1).max(10),
  /** Ids of tasks whose accepted work this one needs. */
  dependencies: z.array(z.string()),
  estimatedTokens: z.number().nonnegative().optional(),
  /** What a task of the same name took in an earlier run. */
  expectedMs: z.number().nonnegative().optional(),
});
export type Task = z.infer<typeof Task>;
