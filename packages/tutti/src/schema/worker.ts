// A `Worker` is the newest attempt at one task, folded from the log.
import { z } from "zod";
import { CompletionAnswer } from "./answer.ts";
import type { Phase, WorkerStatus } from "./status.ts";
import type { CheckedCommand, ContextSize, Usage } from "./outcome.ts";
import type { Task } from "./task.ts";

export const ToolStats = z.object({
  total: z.number(),
  reads: z.number(),
  writes: z.number(),
  edits: z.number(),
  bash: z.number(),
  search: z.number(),
  web: z.number(),
  task: z.number(),
  /** `search` includes `glob` and `grep`. */
  glob: z.number().default(0),
  grep: z.number().default(0),
  /** Calls that did nothing; `total` and the kinds include them. */
  failed: z.number().default(0),
});
export type ToolStats = z.infer<typeof ToolStats>;
export const NO_TOOLS: ToolStats = {
  total: 0,
  reads: 0,
  writes: 0,
  edits: 0,
  bash: 0,
  search: 0,
  web: 0,
  task: 0,
  glob: 0,
  grep: 0,
  failed: 0,
};

/** Stored events of older versions have no `glob`, `grep` and `failed`. */
export function addTools(a: ToolStats, b: ToolStats): ToolStats {
  if (b === NO_TOOLS) return a;
  return {
    total: a.total + b.total,
    reads: a.reads + b.reads,
    writes: a.writes + b.writes,
    edits: a.edits + b.edits,
    bash: a.bash + b.bash,
    search: a.search + b.search,
    web: a.web + b.web,
    task: a.task + b.task,
    glob: (a.glob ?? 0) + (b.glob ?? 0),
    grep: (a.grep ?? 0) + (b.grep ?? 0),
    failed: (a.failed ?? 0) + (b.failed ?? 0),
  };
}

/** The counts of document 004. `total` includes tools without a member of their own; these are `other`. */
export function documentStats({ total, reads, writes, edits, bash, glob, grep, task }: ToolStats) {
  const other = total - reads - writes - edits - bash - glob - grep - task;
  return { totalTools: total, reads, writes, edits, bash, glob, grep, task, other };
}

/** Calls that are evidence of work. `total` also counts failed ones. */
export const succeededTools = ({ total, failed }: ToolStats): number => total - (failed ?? 0);

/** `Origin` is the attempt that produced a result; it may belong to another run. */
export const Origin = z.object({ run: z.string(), taskId: z.string(), sessionId: z.string() });
export type Origin = z.infer<typeof Origin>;

export interface Owed {
  phase: Phase;
  /** Counts from 1. A turn without a usable answer is repeated with the next `try`. */
  try: number;
  /** Why the previous answer was rejected. The next prompt lists them. */
  problems: string[];
  /** Added to the next prompt after `problems`, for example the changes that the user requested. */
  note: string | null;
  /** True if an earlier turn for this answer broke off. The workspace still holds its work. */
  interrupted: boolean;
  /** Since when the answer waits for sub-sessions of the session, or had to wait for them. */
  waitedSince?: number;
  /** Id of the inbox item or message that must be answered before the next turn; `delegation` for delegated tasks. */
  waitsFor: string | null;
}

/** An `OpenTurn` has a prompt that was sent and an answer that is not judged yet. */
interface OpenTurn {
  /** Counts from 1 within the session. The prompt of a number is delivered at most once. */
  number: number;
  phase: Phase;
  try: number;
  startedAt: number;
}

export interface SessionState {
  sessionId: string;
  attempt: number;
  agent: string;
  /** Defaults to the agent's own choice. */
  model?: string;
  role: string;
  /** `spawning` until the agent is ready, `running` until the session is no longer needed or lost. */
  state: "spawning" | "running" | "over";
  turns: number;
  turn: OpenTurn | null;
  /** The commit that the workspace was created from. */
  start: string | null;
  /** Total of ended waits, such as `pausedAt` and `refusedSince`. It extends the deadline. */
  waitedMs: number;
  /** Set while the session is paused. It has no deadline then; see `waitedMs`. */
  pausedAt: number | null;
  /** Set while the session waits for its provider. It has no deadline then; see `waitedMs`. */
  refusedSince: number | null;
  /** Answers by `askId`; null until the user answers. */
  asks: Record<string, string | null>;
  /** The size after the last turn of a main session that delegates. */
  context?: ContextSize;
}

/**
 * Set while the main session of a team has to answer the worker: with a verdict on its work, or a resolution of its
 * blocker (`LeadDuty`).
 */
export interface LeadDuty {
  kind: "verdict" | "resolution";
  messageId: string;
  body: Record<string, unknown>;
  since: number;
  /** Set for the kind `verdict`. */
  work?: SubmittedWork;
  /** Set if the user decides instead, in this inbox item. */
  itemId?: string;
}

/** A `ParentDuty` is the result of a delegated task that its parent has to answer. */
export interface ParentDuty {
  taskId: string;
  sessionId: string;
  messageId: string;
}

/** `SubmittedWork` becomes the data of `worker:completed` once it is approved. */
export const SubmittedWork = z.object({
  output: z.unknown(),
  outputFiles: z.array(z.string()),
  report: CompletionAnswer,
  commit: z.string(),
  partial: z.boolean(),
  warnings: z.array(z.string()).optional(),
});
export type SubmittedWork = z.infer<typeof SubmittedWork>;

export interface Worker {
  sessionId: string;
  orchestratorId: string;
  taskId: string;
  task: Task;
  status: WorkerStatus;
  attempt: number;
  session: SessionState;
  owed: Owed | null;
  progress: number;
  currentAction: string | null;
  /** Includes the open turn. For display only. */
  toolStats: ToolStats;
  /** Tool calls of ended turns, which the rules take as evidence of work. */
  endedTools: ToolStats;
  usage: Usage;
  output: unknown;
  /** `summary` and `reportedWarnings` are those of its report. */
  summary?: string;
  reportedWarnings?: string[];
  outputFiles: string[];
  outputPreview: string | null;
  error: string | null;
  errorCode: string | null;
  /** Whether the worker reported the status `partial`. */
  partial: boolean;
  /** Sentences about claims of the worker's report that its work does not show. */
  warnings?: string[];
  /** Set while the worker waits for the lead of its team (`LeadDuty`). */
  awaits?: LeadDuty | null;
  /** Set while the session waits for tasks that it delegated. It has no deadline and no slot then. */
  delegating?: { since: number } | null;
  /** Set if the session's next turn is about a task that returned (`ParentDuty`). */
  duty?: ParentDuty | null;
  /** Set once the deadline of this attempt has passed. The item `itemId` asked the user about it. */
  overdue?: { deadline: number; itemId?: string };
  /** Set if its work changes an interface of another task. The item `itemId` asked the user about it. */
  foreignChange?: { itemId: string; isAllowed: boolean };
  /** The user lets this attempt wait for a host with its labels, and is not asked about it again. */
  keepsWaiting?: true;
  /** How often a completion of this attempt was sent back. */
  rejections?: number;
  retryCount: number;
  notBefore: number | null;
  pausedBy: "person" | "run" | "conflict" | null;
  /** Lost sessions in a row. The task fails at `MAX_LOSSES`. */
  losses: number;
  /** True if the task must not reuse an earlier result, because the user retried it or sent it a message. */
  anew: boolean;
  /** Set if this worker reuses the result of another attempt. */
  reused: Origin | null;
  commit: string | null;
  /** State of `commit` relative to the run's branch. `conflict` only occurs in runs of older versions. */
  merged: "not yet" | "merged" | "conflict";
  /** Set after the merge of an earlier attempt was rejected, until the task is retried without it. */
  rework?: {
    attempt: number;
    /** The run's branch, on which `commands` pass. */
    head: string;
    /** `head` with the work of the attempt. The next attempt starts from it. */
    start: string;
    files: string[];
    /** Commands that failed with the work of the attempt (`CheckedCommand`). */
    commands: CheckedCommand[];
  };
  startedAt: number | null;
  completedAt: number | null;
  lastActivityAt: number | null;
}
