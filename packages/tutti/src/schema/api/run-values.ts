// `RunState` and its parts as the server encodes them: the fold of the log under the names of document 004, with times
// as ISO strings. Loose objects may gain members, and readers must ignore unknown ones.
import { z } from "zod";
import { Budget } from "../budget.ts";
import { EVENTS, RunAnalysis, type RunEvent } from "../event.ts";
import { INBOX_KINDS, InboxItem } from "../inbox.ts";
import { Census, Conflict, Usage, Verdict } from "../outcome.ts";
import { SandboxState } from "../agent/sandbox.ts";
import { PHASES, RUN_STATUSES, WORKER_STATUS } from "../status.ts";
import { Task } from "../task.ts";
import type { TranscriptEntry as Entry } from "../transcript.ts";
import { ToolStats } from "../worker.ts";

export const time = z.iso.datetime();
export const Phase = z.enum(PHASES as [(typeof PHASES)[number]]);
export const RunStatus = z.enum(RUN_STATUSES as [(typeof RUN_STATUSES)[number]]);
const workerStatuses = Object.values(WORKER_STATUS);
const WorkerStatus = z.enum(workerStatuses as [(typeof workerStatuses)[number]]);

export const Done = z.object({ success: z.literal(true) });

const about = {
  id: z.string(),
  status: RunStatus,
  currentPhase: Phase.nullable(),
  templateId: z.string(),
  cwd: z.string(),
  userRequest: z.string(),
  agent: z.string(),
  /** Null until the run has ended. */
  outcome: Verdict.nullable(),
  createdAt: time,
  updatedAt: time,
  startedAt: time.nullable(),
  completedAt: time.nullable(),
};

export const RunSummary = z.object({
  ...about,
  taskCount: z.number(),
  completedTasks: z.number(),
  skippedTasks: z.number(),
  usage: Usage,
  budget: Budget.optional(),
  heldSince: time.optional().describe("Since then all sessions wait for their provider."),
  quietAfterMs: z.number().optional().describe("A run without any event for this long counts as stalled."),
});

export const WaitingItem = InboxItem.extend({ createdAt: time, expiresAt: time.optional() });

/** `WorkerState` of document 004: the newest attempt at one task. */
export const WorkerState = z.looseObject({
  sessionId: z.string(),
  orchestratorId: z.string(),
  taskId: z.string(),
  task: Task,
  status: WorkerStatus,
  attempt: z.number(),
  progress: z.number(),
  currentAction: z.string().nullable(),
  toolStats: ToolStats,
  usage: Usage,
  output: z.unknown(),
  outputFiles: z.array(z.string()),
  outputPreview: z.string().nullable(),
  error: z.string().nullable(),
  errorCode: z.string().nullable(),
  retryCount: z.number(),
  startedAt: time.nullable(),
  completedAt: time.nullable(),
  lastActivityAt: time.nullable(),
  lastPollAt: time.nullable(),
  pausedAt: time.nullable(),
});

/** `RunState` is the `OrchestratorState` of document 004 with the other members of the fold. */
export const RunState = z.looseObject({
  ...about,
  template: z.looseObject({ id: z.string(), name: z.string() }),
  mainSessionId: z.string().nullable(),
  sandbox: SandboxState,
  customVariables: z.record(z.string(), z.unknown()),
  analysis: RunAnalysis.nullable(),
  tasks: z.array(Task),
  parallelGroups: z.array(z.array(z.string())),
  /** Maps the id of each started task to its session id. `workerStates` has the attempts. */
  workers: z.record(z.string(), z.string()),
  workerStates: z.record(z.string(), WorkerState),
  stats: z.object({
    totalTools: z.number(),
    reads: z.number(),
    writes: z.number(),
    edits: z.number(),
    bash: z.number(),
    glob: z.number(),
    grep: z.number(),
    task: z.number(),
    other: z.number(),
  }),
  errors: z.array(z.looseObject({ phase: Phase.nullable(), error: z.string(), code: z.string(), timestamp: time })),
  inbox: z.record(z.string(), WaitingItem),
  _previousStatus: RunStatus.nullable(),
  _previousPhase: Phase.nullable(),
  /** The last event in this state. A live subscriber skips frames of the run up to it. */
  runSeq: z.number(),
});

export const AggregatedStats = z.object({
  totalWorkers: z.number(),
  completed: z.number(),
  failed: z.number(),
  running: z.number(),
  pending: z.number(),
  paused: z.number(),
  cancelled: z.number(),
  timeout: z.number(),
  totalProgress: z.number(),
  toolStats: ToolStats,
  averageProgress: z.number(),
  totalRetries: z.number(),
  /** Sessions without activity for `progressDetectionInterval`. */
  quiet: z.array(z.string()),
});

export type Frame = RunEvent & { seq: number; run: string | null; runSeq: number; timestamp: string };
export const Frame = z.object({
  seq: z.number().int().describe("Counts over the whole server, without gaps."),
  run: z.string().nullable().describe("Null for server events."),
  runSeq: z.number().int().describe("Counts within the run."),
  type: z.enum(Object.keys(EVENTS) as [keyof typeof EVENTS]),
  data: z.looseObject({}).describe("The members of each type are listed in docs/events.md."),
  timestamp: time,
}) as unknown as z.ZodType<Frame>;

/** Readers of a `TranscriptEntry` must ignore unknown types, because types may be added. */
export const TranscriptEntry = z.looseObject({
  n: z.number().int().describe("Counts from 1."),
  type: z.string(),
  at: z.string().optional().describe("Time of the entry, where the agent or its keeper recorded it."),
  omitted: z.number().optional().describe("Number of characters left out of the middle."),
}) as unknown as z.ZodType<Entry>;

export const Outcome = z.object({
  id: z.string(),
  status: z.string(),
  outcome: Verdict.nullable(),
  census: Census,
  causes: z.array(z.object({ taskId: z.string(), status: z.string(), reason: z.string() })),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  outputFiles: z.array(z.string()),
  warnings: z
    .array(z.string())
    .describe(
      "Sentences about claims that the work of a task does not show, and about changes in the repository that no task made.",
    ),
  conflicts: z.array(Conflict),
  verification: z.record(z.string(), z.unknown()).nullable(),
  usage: Usage,
  metrics: z
    .object({ rejectionRate: z.number(), completionTimeMs: z.number(), blockerAgeMs: z.number() })
    .optional()
    .describe("Of a run with roles: rejections per completion, average time of a task, longest wait of a blocker."),
  durationMs: z.number(),
  error: z.string().nullable(),
});

const standing = z.enum([
  "completed",
  "failed",
  "timeout",
  "cancelled",
  "skipped",
  "blocked",
  "neverStarted",
  "active",
]);

export const RunGraph = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      priority: z.number(),
      standing,
      progress: z.number(),
      sessionId: z.string().nullable(),
      attempt: z.number(),
      /** Index of its group in `parallelGroups`; null in an invalid plan. */
      group: z.number().nullable(),
    }),
  ),
  /** From a dependency to its dependent. */
  edges: z.array(z.object({ from: z.string(), to: z.string() })),
  parallelGroups: z.array(z.array(z.string())),
  criticalPath: z.array(z.string()),
});
export type RunGraph = z.infer<typeof RunGraph>;

/** `endedAt` is null for entries that have not ended. */
export const RunTimeline = z.object({
  phases: z.array(z.object({ phase: Phase, startedAt: time, endedAt: time.nullable() })),
  pauses: z.array(z.object({ reason: z.string(), startedAt: time, endedAt: time.nullable() })),
  /** One for each inbox item, with the task and session that it held up. Both are null if it held up the run. */
  waits: z.array(
    z.object({
      itemId: z.string(),
      kind: z.enum(INBOX_KINDS),
      taskId: z.string().nullable(),
      sessionId: z.string().nullable(),
      startedAt: time,
      endedAt: time.nullable(),
    }),
  ),
  sessions: z.array(
    z.object({
      sessionId: z.string(),
      taskId: z.string().nullable(),
      attempt: z.number(),
      startedAt: time,
      endedAt: time.nullable(),
      /** Type of the event that ended the session. */
      ending: z.string().nullable(),
      turns: z.array(z.object({ turn: z.number(), phase: Phase, startedAt: time, endedAt: time.nullable() })),
      /** Times in which the session waited for its provider. */
      refusals: z.array(z.object({ startedAt: time, endedAt: time.nullable() })),
    }),
  ),
});
export type RunTimeline = z.infer<typeof RunTimeline>;

export const RunUsage = z.object({
  usage: Usage,
  toolStats: ToolStats,
  turns: z.number(),
  budget: Budget,
  sessions: z.array(
    z.object({
      sessionId: z.string(),
      taskId: z.string().nullable(),
      turns: z.number(),
      usage: Usage,
      toolStats: ToolStats,
    }),
  ),
});
export type RunUsage = z.infer<typeof RunUsage>;
