import { z } from "zod";

/** A conflict between the work of `tasks`. The refs in `refs` keep every side reachable. */
export const Conflict = z.object({
  type: z.string(),
  files: z.array(z.string()),
  tasks: z.array(z.string()),
  resolution: z.string().nullable(),
  refs: z.array(z.string()),
});
export type Conflict = z.infer<typeof Conflict>;

/**
 * A name that `task` removed or declared anew in `file`. Another task, `usedBy`, uses it in `usedIn` without knowing of
 * the change.
 */
export const UsedName = z.object({
  /** A member of a type has the form `Type.member`. */
  name: z.string(),
  change: z.enum(["removed", "changed"]),
  task: z.string(),
  file: z.string(),
  usedBy: z.string(),
  usedIn: z.string(),
  line: z.number(),
});
export type UsedName = z.infer<typeof UsedName>;

/** A ref of a run that another program moved, or deleted if `found` is null. */
export const MovedRef = z.object({
  ref: z.string(),
  found: z.string().nullable(),
  /** The commit in the log. */
  recorded: z.string(),
  /** A ref for `found`, or null if `recorded` contains it. */
  kept: z.string().nullable(),
  /** False if the user had the branch checked out, so that it stayed as it was. */
  restored: z.boolean(),
});
export type MovedRef = z.infer<typeof MovedRef>;

/**
 * Files that an agent claims as its output and that its work lacks (`missing`) or contains without a change
 * (`unchanged`).
 */
export interface UnprovenFiles {
  missing: string[];
  unchanged: string[];
}

export const CheckedCommand = z.object({
  name: z.string(),
  run: z.string(),
  /** 124 after a timeout, and 128 plus its number after a signal. */
  exitCode: z.number(),
  durationMs: z.number(),
  /** The end of the output. */
  output: z.string(),
});
export type CheckedCommand = z.infer<typeof CheckedCommand>;

export const Usage = z.object({
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  usd: z.number().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, usd: 0 };
export function addUsage(a: Usage, b: Usage): Usage {
  if (b === NO_USAGE) return a;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    usd: a.usd + b.usd,
  };
}

/** The part of an agent's context `window` that its conversation takes, in tokens. */
export const ContextSize = z.object({ tokens: z.number().nonnegative(), window: z.number().positive().optional() });
export type ContextSize = z.infer<typeof ContextSize>;

export const Census = z.object({
  planned: z.number(),
  completed: z.number(),
  failed: z.number(),
  timeout: z.number(),
  cancelled: z.number(),
  skipped: z.number(),
  blocked: z.number(),
  neverStarted: z.number(),
});
export type Census = z.infer<typeof Census>;

export const Verdict = z.enum(["success", "degraded", "failed", "cancelled"]);
export type Verdict = z.infer<typeof Verdict>;

/** A `TaskReport` is for the prompts of sessions that build on the task. */
const TaskReport = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  /** The error, if the task did not complete. */
  summary: z.string(),
  files: z.array(z.string()),
  warnings: z.array(z.string()).optional(),
});
export type TaskReport = z.infer<typeof TaskReport>;

export const FollowedRun = z.object({
  run: z.string(),
  commit: z.string(),
  request: z.string(),
  outcome: Verdict,
  tasks: z.array(TaskReport),
});
export type FollowedRun = z.infer<typeof FollowedRun>;

/** `TeamMetrics` exist for runs with roles. */
export interface TeamMetrics {
  /** Rejections per completion. */
  rejectionRate: number;
  /** Average of the completed tasks, in milliseconds from start to approval. */
  completionTimeMs: number;
  /** The longest wait for the answer to a blocker. */
  blockerAgeMs: number;
}

export interface Outcome {
  id: string;
  status: string;
  /** Null until the run has ended; `status` is always set. */
  outcome: Verdict | null;
  census: Census;
  causes: { taskId: string; status: string; reason: string }[];
  branch: string | null;
  commit: string | null;
  outputFiles: string[];
  /** Sentences about claims that the work of a task does not show, and changes in the repository that no task made. */
  warnings: string[];
  conflicts: Conflict[];
  verification: Record<string, unknown> | null;
  usage: Usage;
  /** Missing for a run without roles. */
  metrics?: TeamMetrics;
  durationMs: number;
  /** Null unless an error ended the run. */
  error: string | null;
}
