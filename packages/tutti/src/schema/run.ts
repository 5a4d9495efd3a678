// A `Run` is an orchestrator in the words of document 004. It is the fold of the run's log, never the source of truth.
import type { AggregationAnswer, VerificationAnswer } from "./answer.ts";
import type { Budget } from "./budget.ts";
import type { Decision, EventData, Idempotency, PauseReason } from "./event.ts";
import type { InboxItem } from "./inbox.ts";
import type { CheckedCommand, Conflict, FollowedRun, MovedRef, Usage, UsedName, Verdict } from "./outcome.ts";
import type { SandboxState } from "./agent/sandbox.ts";
import type { Phase, RunStatus, SubagentEnd } from "./status.ts";
import type { Task } from "./task.ts";
import type { GateEntry } from "./team/gate.ts";
import type { TeamMessage } from "./team/team-message.ts";
import type { Template } from "./template.ts";
import type { Owed, SessionState, ToolStats, Worker } from "./worker.ts";

export interface Refusal extends Pick<EventData<"provider:refused">, "cause" | "detail" | "until" | "count"> {
  /**
   * Like `until`, but only of refusals that ended a turn. A turn started after `settledUntil` probes whether the
   * provider answers again.
   */
  settledUntil: number;
}

export interface Subagent {
  sessionId: string;
  taskId: string | null;
  /** The id of the tool call that started it. */
  taskToolId: string | null;
  description: string | null;
  /** Set if another sub-session than `sessionId` started it. */
  parentSessionId?: string;
  /** True if it was registered with Tutti and does not end with the session. */
  registered?: boolean;
  startedAt: number;
  endedAt: number | null;
  /** Set with `endedAt`; `text` is the reason of a failure. */
  status?: SubagentEnd;
  text?: string;
}

export interface GivenAnswer {
  text: string;
  sessionId: string;
  /** The id that `sessionId` gave its question. */
  askId: string;
  question: string;
  /** The tool of a permission, and its use. */
  permission?: unknown;
  /** True if the session was suspended before it received the answer. */
  unheard?: boolean;
}

export interface Run {
  id: string;
  templateId: string;
  template: Template;
  cwd: string;
  userRequest: string;
  customVariables: Record<string, unknown>;
  /** Agent of the phases for which `template` names no other. */
  agent: string;
  /** Maps each user-defined agent name to its provider. */
  providers?: Readonly<Record<string, string>>;
  /** Names in the user's configuration that a plan made by a model may assign to tasks. */
  assignableAgents?: readonly string[];
  /** Set if the run starts from the result of this run. */
  follows?: FollowedRun;
  /** Paths below the repository's root. Changes elsewhere stay out of the result. */
  scope?: readonly string[];
  sandbox: SandboxState;
  /** Changed files outside `scope`, by attempt; `taskId` is null for the main session. */
  outside?: { taskId: string | null; attempt: number; files: string[] }[];
  status: RunStatus;
  /** Null until the run has ended. */
  outcome: Verdict | null;
  currentPhase: Phase | null;
  mainSessionId: string | null;
  /** Set while `status` is `paused`: the state to resume to, and the reason. */
  pausedFrom: { status: RunStatus; phase: Phase | null; at: number; reason: PauseReason; detail: string } | null;
  main: SessionState | null;
  /** The answer that the main session has to give. It survives the loss of `main`. */
  owed: Owed | null;
  mainLosses: number;
  analysis: EventData<"orchestrator:analysisComplete">["analysis"] | null;
  tasks: Task[];
  parallelGroups: string[][];
  /** Why the plan cannot be confirmed. Unlike these, `planWarnings` do not prevent it. */
  planErrors: string[];
  planWarnings: string[];
  executionOrder: string[] | null;
  /** Tasks that the user skipped. Dependents of a `satisfied` task may start. */
  skipped: Record<string, { satisfied: boolean }>;
  /** By task id. `workers`, `blocked`, `inbox`, `answers` and `hooks` are shared records: see run/fold/shared-record.ts. */
  workers: Record<string, Worker>;
  /** Maps tasks that can no longer start to the `dependencies` that did not complete. */
  blocked: Record<string, string[]>;
  /** HEAD of the user's repository when the run started, or the result of `follows`. */
  base: string | null;
  head: string | null;
  conflicts: Conflict[];
  /** Refs of the run that another program moved. With one of `movedRefs` the run is `degraded` at best. */
  movedRefs?: MovedRef[];
  /** Maps `childSessionId` to the agents that the agents of its sessions started. A shared record. */
  subagents?: Record<string, Subagent>;
  /** Conflicts between tasks at work, the earlier task first. Empty `files`: the conflict is gone. */
  emerging?: { tasks: string[]; files: string[] }[];
  /** `UsedName`s in the work of `head`. */
  usedNames?: { head: string; names: UsedName[] };
  /** Changes of the user's repository during a session. */
  repositoryChanges?: Omit<EventData<"repository:changed">, "id">[];
  aggregation: AggregationAnswer | null;
  /** Claims of `aggregation` that the files contradict, as clauses without a period. */
  unproven?: string[];
  verification: VerificationAnswer | null;
  /** The verification commands ran in the tree of `commit`. `isRunning` until they have all ended. */
  checks?: { commit: string; commands: CheckedCommand[]; isRunning: boolean };
  /** Commands for merges that failed on the run's branch alone, so that no task can be blamed. */
  redBase?: CheckedCommand[];
  /** True once the main session has got its turn for `autoFix`. */
  isFixing?: boolean;
  inbox: Record<string, InboxItem>;
  /** The user's answers by task and question, so that a replacement session gets the same answer. */
  answers: Record<string, GivenAnswer>;
  decisions: Decision[];
  /**
   * Messages from the user, and results `from` sub-sessions; `told` is true once a turn includes the message or its
   * agent received it.
   */
  messages: {
    taskId: string | null;
    text: string;
    told: boolean;
    now?: boolean;
    from?: string;
    isReminder?: boolean;
  }[];
  /** Set while the main session has to answer a worker of its team. */
  duty?: { taskId: string; sessionId: string; messageId?: string } | null;
  /** Set once the main session that delegates has reported the request as done. */
  leadReport?: { summary: string };
  /** In the order in which they were queued. */
  teamMessages?: TeamMessage[];
  /** The number of plans so far, in a continuous run. */
  cycle?: number;
  /** Failures of the same kind in a row, in a continuous run. */
  failures?: { code: string; count: number; error: string } | null;
  /** By environment. An environment without a `GateEntry` is closed. */
  gate?: Record<string, GateEntry>;
  budget: Budget;
  turns: number;
  sessions: number;
  /**
   * Time in which the run waited for the user (`idleSince`) or a provider (`heldSince`). It does not count against
   * `budget.minutes`.
   */
  idleMs: number;
  idleSince: number | null;
  /** Set while every session waits for a provider that refuses. */
  heldSince?: number;
  lastSpawnAt: number | null;
  /** Start time of the current phase, shifted by pauses. */
  phaseSince: number | null;
  refusals: Record<string, Refusal>;
  autoResumes: number;
  /** Started hooks by `hookKey`. */
  hooks: Record<string, "running" | "ended">;
  usage: Usage;
  toolStats: ToolStats;
  errors: { phase: Phase | null; error: string; code: string; timestamp: number }[];
  /** The run of which this fork may reuse later results. Null for `fresh` forks and imports. */
  forkedFrom: { run: string; at: number } | null;
  /** Null if the request had no `Idempotency-Key`, and for forked and imported runs. */
  idempotency: Idempotency | null;
  /** True once all processes and workspaces of an ended run are removed. */
  released: boolean;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  /** `runSeq` of the last event folded into this state. */
  runSeq: number;
}

/** Errors of the run and of its plan, until the plan is changed or confirmed. */
export const errorsOf = ({ errors, planErrors, updatedAt }: Run): Run["errors"] => [
  ...errors,
  ...planErrors.map((error) => ({ phase: "taskPlanning" as const, error, code: "invalid_plan", timestamp: updatedAt })),
];
