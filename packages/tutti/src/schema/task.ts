import { z } from "zod";

/** Agents choose a `TaskId` freely, as long as it needs no escaping in a terminal, a page or a command. */
export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, "must be 1 to 100 characters of A-Z, a-z, 0-9, _, . and -");

/** Agents may use `PRIORITY_WORDS` for `priority`; 1 is the most urgent. */
export const PRIORITY_WORDS = { critical: 1, high: 2, medium: 5, normal: 5, low: 8 } as const;
export const DEFAULT_PRIORITY = 5;

/** `ModelName` has no characters that a command line or a configuration would read as something else. */
export const ModelName = z.string().regex(/^[A-Za-z0-9][\w.:/@[\]-]{0,199}$/, "must be the name of a model");

/** A `Delegation` is how a session delegated a task with a `new_task` message (document 002). */
const Delegation = z.object({
  /** The task of the session that delegated it; null for the main session. */
  parent: z.string().nullable(),
  /** The session of `parent`. The task ends with it. Null for the main session, which may be replaced. */
  session: z.string().nullable(),
  /** The `new_task` as the parent wrote it. */
  message: z.record(z.string(), z.unknown()),
  /** The commit that the next attempt starts from. Without it, the attempt starts from the branch of the run. */
  start: z.string().optional(),
  /** How often the parent delegated the task again because its result was not good enough. */
  rejections: z.number().int().min(0),
  /** Questions of earlier attempts with their answers, and results that led to `rejections`. */
  notes: z.array(z.string()),
  /** Number of questions that the parent has answered. */
  answers: z.number().int().min(0),
});
type Delegation = z.infer<typeof Delegation>;

/** `modes` are those that a session may delegate to, empty for any mode. `refusal` says why it cannot delegate. */
export type DelegationRight = { modes: string[] } | { refusal: string };

/** Labels that the machine of a session must offer, such as `gpu: yes`. */
export const HostLabels = z.record(z.string().min(1).max(100), z.string().max(200));
export type HostLabels = z.infer<typeof HostLabels>;

/** Other tasks rely on the files of a `SharedInterface`, and only its owner changes them. */
export const SharedInterface = z.object({
  name: z.string().min(1).max(200),
  files: z.array(z.string().min(1)).min(1),
});
export type SharedInterface = z.infer<typeof SharedInterface>;

export const Task = z.object({
  id: TaskId,
  title: z.string().min(1),
  description: z.string().min(1),
  /** Files or folders to work on. An entry may end in `:start-end` (lines) or `:symbol`. */
  scope: z.array(z.string()),
  priority: z.number().min(1).max(10),
  /** Ids of tasks that must be accepted first, because this task needs their work. */
  dependencies: z.array(z.string()),
  estimatedTokens: z.number().nonnegative().optional(),
  /** Duration of a task with the same title in earlier runs. */
  expectedMs: z.number().nonnegative().optional(),
  /** Agent of the task's worker: a name in the template's `phases.workerExecution.agents`, or any agent. */
  agent: z.string().min(1).optional(),
  /** A model of `agent`. */
  model: ModelName.optional(),
  /** Labels of the worker hosts that may run the task, besides those of its role. */
  labels: HostLabels.optional(),
  /**
   * The role of the worker in a team. `requirements` and `acceptanceCriteria` say what it has to do and how its work is
   * judged.
   */
  role: z.string().optional(),
  requirements: z.array(z.string()).optional(),
  acceptanceCriteria: z.array(z.string()).optional(),
  filesToReview: z.array(z.string()).optional(),
  /** The interfaces that the task owns. */
  interfaces: z.array(SharedInterface).optional(),
  delegation: Delegation.optional(),
});
export type Task = z.infer<typeof Task>;
