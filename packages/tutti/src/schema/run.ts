// A run: what document 004 calls an orchestrator. This is the fold of its log; nothing here is stored by itself.
import type { FailureCause } from "./ending.ts";
import type { AggregationAnswer, VerificationAnswer } from "./answer.ts";
import type { Budget } from "./budget.ts";
import type { Decision, Idempotency, PauseReason } from "./event.ts";
import type { InboxItem } from "./inbox.ts";
import type { Conflict, Usage, Verdict } from "./outcome.ts";
import type { Phase, RunStatus } from "./status.ts";
import type { Task } from "./task.ts";
import type { Template } from "./template.ts";
import type { Owed, SessionState, ToolStats, Worker } from "./worker.ts";

export interface Analysis {
  summary: string;
  recommendedSplits: number;
  keyFiles: string[];
  estimatedComplexity: string | null;
  components: unknown[];
  notes: string | null;
  warnings: string[];
}

/** What a provider has said last about why and until when it answers nobody. */
export interface Refusal {
  cause: FailureCause;
  detail: string;
  until: number;
  /** The same, of refusals that ended a turn alone; whoever was asked after that moment finds out whether it still holds. */
  settledUntil: number;
  /** How often in a row. */
  count: number;
}

export interface Run {
  id: string;
  templateId: string;
  template: Template;
  cwd: string;
  userRequest: string;
  customVariables: Record<string, unknown>;
  /** The agent of its sessions, as the person named it, where the template names no other for a phase. */
  agent: string;
  /** Who stands behind the agents that have a name of the person's choice. */
  providers?: Readonly<Record<string, string>>;
  status: RunStatus;
  /** Null until the run has ended. */
  outcome: Verdict | null;
  currentPhase: Phase | null;
  mainSessionId: string | null;
  /** While it is paused: what it was doing, since when, and why. */
  pausedFrom: { status: RunStatus; phase: Phase | null; at: number; reason: PauseReason; detail: string } | null;
  main: SessionState | null;
  /** What the main session has to answer; outlives a main session that is lost. */
  owed: Owed | null;
  /** Main sessions that vanished since the last answer of one could be used. */
  mainLosses: number;
  analysis: Analysis | null;
  tasks: Task[];
  parallelGroups: string[][];
  /** Why the plan cannot be confirmed as it stands; empty for a sound plan. */
  planErrors: string[];
  planWarnings: string[];
  executionOrder: string[] | null;
  /** Tasks that the person left out, and whether what depends on them may start all the same. */
  skipped: Record<string, { satisfied: boolean }>;
  /** By task. Records that grow with the run are read like any object but shared between states: run/shared-record.ts. */
  workers: Record<string, Worker>;
  /** Tasks that cannot start any more, with the tasks that are the reason. */
  blocked: Record<string, string[]>;
  /** HEAD of the person's repository when the run started. */
  base: string | null;
  /** Where the run's branch points. */
  head: string | null;
  conflicts: Conflict[];
  aggregation: AggregationAnswer | null;
  verification: VerificationAnswer | null;
  inbox: Record<string, InboxItem>;
  /** What a person answered, by who asked what: a session that takes over is not made to ask again. */
  answers: Record<string, { text: string; sessionId: string }>;
  /** What the person decided where merging needed it. */
  decisions: Decision[];
  /** What people said to the main session or to the worker of a task; `told` once a turn has begun that says it. */
  messages: { taskId: string | null; text: string; told: boolean }[];
  budget: Budget;
  /** What the budget is measured against: turns begun, sessions started, and time in which nothing could go on. */
  turns: number;
  sessions: number;
  idleMs: number;
  idleSince: number | null;
  /** Since when everybody waits for a provider that refuses; absent while somebody is at work, or nobody waits for one. */
  heldSince?: number;
  /** When the newest worker was started. */
  lastSpawnAt: number | null;
  /** Since when the present phase lasts. */
  phaseSince: number | null;
  /** Providers that refuse for now, by name. */
  refusals: Record<string, Refusal>;
  /** How often it went on by itself after a usage limit. */
  autoResumes: number;
  /** Hooks that were started, by hook and cause, and whether they have ended. */
  hooks: Record<string, "running" | "ended">;
  usage: Usage;
  toolStats: ToolStats;
  errors: { phase: Phase | null; error: string; code: string; timestamp: number }[];
  /** The run and the event that it was forked from, if it may take over what was done there since. */
  forkedFrom: { run: string; at: number } | null;
  /** What its request was called, if whoever asked gave it a name; a copy of a run was not asked for that way. */
  idempotency: Idempotency | null;
  /** Whether all processes and workspaces of an ended run are known to be gone. */
  released: boolean;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  /** The number of the last event folded into this state. */
  runSeq: number;
}
