// The messages of document 003 as Tutti accepts them. The examples in the document omit members that its rules demand,
// so only members that cannot be inferred are required: for an assignment those the document lists as required, for
// other messages the type and, except for a blocker, the task.
import { z } from "zod";
import {
  AssignmentContext,
  BlockerEscalation,
  BlockerResolution,
  CompletionValidation,
  TaskAcknowledgment,
  TaskAssignment,
  TaskCompletion,
  TaskRejection,
} from "./message-schema.ts";

const time = { timestamp: z.string().optional() };

const ReadTaskAssignment = TaskAssignment.extend({
  ...time,
  // Only the orchestrator assigns, so `from_agent` can be inferred.
  from_agent: z.string().min(1).optional(),
  priority: z.union([z.string(), z.number()]).optional(),
  deadline: z.string().optional(),
  context: z.union([AssignmentContext, z.string()]).optional(),
  blocked_by: z.union([z.string(), z.array(z.string())]).nullish(),
});

const ReadTaskAcknowledgment = TaskAcknowledgment.partial().extend({
  ...time,
  message_type: z.literal("TASK_ACKNOWLEDGMENT"),
  task_id: z.string().min(1),
  status: z.string().optional(),
});

const ReadTaskCompletion = TaskCompletion.partial().extend({
  ...time,
  message_type: z.literal("TASK_COMPLETION"),
  task_id: z.string().min(1),
  status: z.string().optional(),
  approval_status: z.string().optional(),
  validation: CompletionValidation.partial().optional(),
});

const ReadTaskRejection = TaskRejection.partial().extend({
  ...time,
  message_type: z.literal("TASK_REJECTION"),
  task_id: z.string().min(1),
  from_agent: z.string().min(1).optional(),
  issues: z.array(z.union([z.string(), z.looseObject({})])).optional(),
  deadline: z.string().optional(),
});

const ReadBlockerEscalation = BlockerEscalation.partial().extend({
  ...time,
  message_type: z.literal("BLOCKER_ESCALATION"),
  blocker_type: z.string().optional(),
  severity: z.string().optional(),
  escalate_to: z.string().optional(),
});

const ReadBlockerResolution = BlockerResolution.partial().extend({
  ...time,
  message_type: z.literal("BLOCKER_RESOLUTION"),
  task_id: z.string().min(1),
  from_agent: z.string().min(1).optional(),
});

/** Keyed by `message_type`. */
export const READ_MESSAGES = {
  TASK_ASSIGNMENT: ReadTaskAssignment,
  TASK_ACKNOWLEDGMENT: ReadTaskAcknowledgment,
  TASK_COMPLETION: ReadTaskCompletion,
  TASK_REJECTION: ReadTaskRejection,
  BLOCKER_ESCALATION: ReadBlockerEscalation,
  BLOCKER_RESOLUTION: ReadBlockerResolution,
} as const;

type Stamped<M> = M & { timestamp: string };
export type TaskAssignment = Stamped<z.infer<typeof ReadTaskAssignment>>;
type TaskAcknowledgment = Stamped<z.infer<typeof ReadTaskAcknowledgment>>;
export type TaskCompletion = Stamped<z.infer<typeof ReadTaskCompletion>>;
export type TaskRejection = Stamped<z.infer<typeof ReadTaskRejection>>;
export type BlockerEscalation = Stamped<z.infer<typeof ReadBlockerEscalation>>;
type BlockerResolution = Stamped<z.infer<typeof ReadBlockerResolution>>;
/** Discriminated by `message_type`. */
export type AgentMessage =
  | TaskAssignment
  | TaskAcknowledgment
  | TaskCompletion
  | TaskRejection
  | BlockerEscalation
  | BlockerResolution;
