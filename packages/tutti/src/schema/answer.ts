// `ANSWERS` has the `data` of each phase of the delimited response, in its snake_case form. Unknown members are kept
// for the record, although no rule reads them.
import { z } from "zod";
import { PRIORITY_WORDS } from "./task.ts";

export const AnalysisAnswer = z.looseObject({
  summary: z.string(),
  recommended_splits: z.number(),
  key_files: z.array(z.string()).optional(),
  estimated_complexity: z.string().optional(),
  notes: z.string().optional(),
  warnings: z.array(z.string()).optional(),
  components: z.array(z.unknown()).optional(),
});

const TaskAnswer = z.looseObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  scope: z.array(z.string()).optional(),
  priority: z.union([z.number(), z.enum(Object.keys(PRIORITY_WORDS) as [keyof typeof PRIORITY_WORDS])]).optional(),
  dependencies: z.array(z.string()).optional(),
  estimated_tokens: z.number().optional(),
});

export const TaskListAnswer = z.looseObject({
  tasks: z.array(TaskAnswer),
  total_tasks: z.number().optional(),
  parallelizable_groups: z.array(z.array(z.string())).optional(),
  execution_order: z.array(z.string()).optional(),
  /** `[{name, owner, files}]`. Read leniently: a wrong entry is dropped with a warning. */
  interfaces: z.unknown().optional(),
});

export const ProgressAnswer = z.looseObject({
  task_id: z.string(),
  status: z.string(),
  progress_percent: z.number().min(0).max(100).optional(),
  current_action: z.string().optional(),
  files_processed: z.number().optional(),
  files_total: z.number().optional(),
  output_preview: z.string().optional(),
});

export const CompletionAnswer = z.looseObject({
  task_id: z.string(),
  status: z.enum(["success", "partial", "failed", "timeout"]),
  summary: z.string().optional(),
  output_files: z.array(z.string()).optional(),
  output: z.unknown().optional(),
  error: z.string().optional(),
  warnings: z.array(z.string()).optional(),
  metrics: z.record(z.string(), z.unknown()).optional(),
  partial_progress: z.unknown().optional(),
});

const ConflictAnswer = z.looseObject({
  type: z.string(),
  description: z.string().optional(),
  resolution: z.string().optional(),
  options: z.array(z.string()).optional(),
  files: z.array(z.string()).optional(),
  workers: z.array(z.string()).optional(),
});

export const AggregationAnswer = z.looseObject({
  status: z.enum(["success", "needs_input", "failed"]),
  summary: z.string().optional(),
  conflicts: z.array(ConflictAnswer).optional(),
  merged_output: z.string().optional(),
  output_files: z.array(z.string()).optional(),
  error: z.string().optional(),
});

export const VerificationAnswer = z.looseObject({
  status: z.enum(["passed", "failed", "passed_with_warnings"]),
  summary: z.string().optional(),
  issues: z
    .array(
      z.looseObject({
        severity: z.enum(["error", "warning", "info"]).optional(),
        description: z.string(),
        location: z.string().optional(),
        suggested_fix: z.string().optional(),
      }),
    )
    .optional(),
  auto_fixed: z.array(z.string()).optional(),
  /** Faults that stay in the result. They make the run `degraded` although its verification passed. */
  remaining_faults: z.array(z.string()).optional(),
});

const HeartbeatAnswer = z.looseObject({ timestamp: z.string(), alive: z.boolean() });

export const ANSWERS = {
  analysis: AnalysisAnswer,
  task_list: TaskListAnswer,
  progress: ProgressAnswer,
  completion: CompletionAnswer,
  aggregation: AggregationAnswer,
  verification: VerificationAnswer,
  heartbeat: HeartbeatAnswer,
} as const;
export type BlockPhase = keyof typeof ANSWERS;

export type AnalysisAnswer = z.infer<typeof AnalysisAnswer>;
export type TaskListAnswer = z.infer<typeof TaskListAnswer>;
export type ProgressAnswer = z.infer<typeof ProgressAnswer>;
export type CompletionAnswer = z.infer<typeof CompletionAnswer>;
export type AggregationAnswer = z.infer<typeof AggregationAnswer>;
export type VerificationAnswer = z.infer<typeof VerificationAnswer>;

export type Answer =
  | { phase: "analysis"; data: AnalysisAnswer }
  | { phase: "task_list"; data: TaskListAnswer }
  | { phase: "completion"; data: CompletionAnswer }
  | { phase: "aggregation"; data: AggregationAnswer }
  | { phase: "verification"; data: VerificationAnswer };
