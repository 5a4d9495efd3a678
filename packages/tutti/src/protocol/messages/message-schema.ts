// The messages of document 003 as Tutti writes them. Members that the document or its best practices demand are
// required. `message-reading.ts` defines what Tutti accepts.
import { z } from "zod";
import { Timestamp } from "../timestamp.ts";

const PRIORITIES = ["high", "medium", "low"] as const;
export const BLOCKER_TYPES = [
  "clarification_needed",
  "technical_blocker",
  "dependency_missing",
  "scope_change",
] as const;
export const SEVERITIES = ["critical", "high", "medium", "low"] as const;
export const ESCALATION_TARGETS = ["ORCHESTRATOR", "human"] as const;
const APPROVALS = ["APPROVED", "CONDITIONAL", "REJECTED"] as const;

const texts = z.array(z.string());
/** `Issues` are sentences in the document and objects in practice. */
const Issues = z.array(z.union([z.string(), z.looseObject({})]));

/** Messages to the agent that assigned the task may omit `to_agent`. */
const toAssigner = { to_agent: z.string().min(1).optional() };
const traced = { task_id: z.string().min(1), from_agent: z.string().min(1), timestamp: Timestamp };
const fromOrchestrator = { from_agent: z.literal("ORCHESTRATOR") };

export const AssignmentContext = z.looseObject({
  project: z.string().optional(),
  phase: z.string().optional(),
  reference_docs: texts.optional(),
  tech_stack: z.string().optional(),
  key_constraints: texts.optional(),
});

export const TaskAssignment = z.looseObject({
  message_type: z.literal("TASK_ASSIGNMENT"),
  ...traced,
  ...fromOrchestrator,
  to_agent: z.string().min(1),
  task_name: z.string(),
  priority: z.enum(PRIORITIES).optional(),
  deadline: Timestamp.optional(),
  requirements: texts,
  acceptance_criteria: texts,
  context: AssignmentContext.optional(),
  blocked_by: z
    .union([z.string(), texts.min(2)])
    .nullable()
    .optional(),
  related_tasks: texts.optional(),
  files_to_review: texts.optional(),
});

export const TaskAcknowledgment = z.looseObject({
  message_type: z.literal("TASK_ACKNOWLEDGMENT"),
  ...traced,
  ...toAssigner,
  status: z.literal("acknowledged"),
  estimated_completion: z.string().optional(),
  understood: z.boolean().optional(),
  clarifications_needed: z.array(z.unknown()).optional(),
});

const CompletionOutput = z.looseObject({
  files: texts.optional(),
  code: z.string().optional(),
  summary: z.string().optional(),
  artifacts: texts.optional(),
  critical_issues: Issues.optional(),
  high_issues: Issues.optional(),
  medium_issues: Issues.optional(),
  low_issues: Issues.optional(),
  recommendations: Issues.optional(),
  blocking_deployment: z.boolean().optional(),
});

export const CompletionValidation = z.looseObject({
  acceptance_criteria_met: z.array(z.boolean()).optional(),
  all_passed: z.boolean(),
  issues: Issues.optional(),
  security_passed: z.boolean().optional(),
  production_readiness_passed: z.boolean().optional(),
  scalability_passed: z.boolean().optional(),
});

export const TaskCompletion = z.looseObject({
  message_type: z.literal("TASK_COMPLETION"),
  ...traced,
  ...toAssigner,
  status: z.literal("completed"),
  approval_status: z.enum(APPROVALS).optional(),
  output: CompletionOutput,
  validation: CompletionValidation,
  next_steps: texts.optional(),
});

export const TaskRejection = z.looseObject({
  message_type: z.literal("TASK_REJECTION"),
  ...traced,
  ...fromOrchestrator,
  to_agent: z.string().min(1),
  reason: z.string(),
  issues: texts,
  action_required: z.string().optional(),
  deadline: Timestamp.optional(),
  next_review: z.string().optional(),
});

export const BlockerEscalation = z.looseObject({
  message_type: z.literal("BLOCKER_ESCALATION"),
  ...traced,
  ...toAssigner,
  blocker_type: z.enum(BLOCKER_TYPES),
  severity: z.enum(SEVERITIES).optional(),
  description: z.string(),
  options: texts.optional(),
  suggested_resolution: z.string().optional(),
  context: z.string().optional(),
  escalate_to: z.enum(ESCALATION_TARGETS).optional(),
});

export const BlockerResolution = z.looseObject({
  message_type: z.literal("BLOCKER_RESOLUTION"),
  ...traced,
  /** Only one of `ESCALATION_TARGETS` can resolve a blocker. */
  from_agent: z.enum(ESCALATION_TARGETS),
  to_agent: z.string().min(1),
  decision: z.string(),
  rationale: z.string().optional(),
  modified_requirements: texts.optional(),
  resume_task: z.boolean(),
});

/** Keyed by `message_type`. */
export const WRITTEN_MESSAGES = {
  TASK_ASSIGNMENT: TaskAssignment,
  TASK_ACKNOWLEDGMENT: TaskAcknowledgment,
  TASK_COMPLETION: TaskCompletion,
  TASK_REJECTION: TaskRejection,
  BLOCKER_ESCALATION: BlockerEscalation,
  BLOCKER_RESOLUTION: BlockerResolution,
} as const;
export type MessageType = keyof typeof WRITTEN_MESSAGES;
export type WrittenAgentMessage = z.infer<(typeof WRITTEN_MESSAGES)[MessageType]>;
