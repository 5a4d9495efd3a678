// `PHASE_SCHEMAS` lists the members that each phase of the delimited response may have, as published by document 004,
// plus the phases and members that the document uses but does not list.
import type { BlockPhase } from "../../schema/answer.ts";

export interface MemberList {
  required: readonly string[];
  optional: readonly string[];
}

export interface PhaseSchema extends MemberList {
  /** Members of the entries in the list of the phase. */
  taskSchema?: MemberList;
  conflictSchema?: MemberList;
  issueSchema?: MemberList;
}

export const PHASE_SCHEMAS: Record<BlockPhase, PhaseSchema> = {
  analysis: {
    required: ["summary", "recommended_splits"],
    optional: ["key_files", "estimated_complexity", "notes", "warnings", "components"],
  },
  task_list: {
    required: ["tasks"],
    optional: ["total_tasks", "parallelizable_groups", "execution_order"],
    taskSchema: {
      required: ["id", "title", "description"],
      optional: ["scope", "priority", "dependencies", "estimated_tokens"],
    },
  },
  progress: {
    required: ["task_id", "status"],
    optional: ["progress_percent", "current_action", "files_processed", "files_total", "output_preview"],
  },
  completion: {
    required: ["task_id", "status"],
    optional: ["summary", "output_files", "output", "error", "warnings", "metrics", "partial_progress"],
  },
  aggregation: {
    required: ["status"],
    optional: ["summary", "conflicts", "merged_output", "output_files", "error"],
    conflictSchema: {
      required: ["type"],
      optional: ["description", "resolution", "options", "files", "workers", "tasks"],
    },
  },
  verification: {
    required: ["status"],
    optional: ["summary", "issues", "auto_fixed"],
    issueSchema: { required: ["description"], optional: ["severity", "location", "suggested_fix"] },
  },
  heartbeat: { required: ["timestamp", "alive"], optional: [] },
};

/** `ENTRIES` has, for phases with a list of objects, the name of the list and the members of its entries. */
export const ENTRIES: Partial<Record<BlockPhase, { list: string; members: MemberList }>> = {
  task_list: { list: "tasks", members: PHASE_SCHEMAS.task_list.taskSchema! },
  aggregation: { list: "conflicts", members: PHASE_SCHEMAS.aggregation.conflictSchema! },
  verification: { list: "issues", members: PHASE_SCHEMAS.verification.issueSchema! },
};

export function isBlockPhase(phase: string): phase is BlockPhase {
  return Object.hasOwn(PHASE_SCHEMAS, phase);
}
