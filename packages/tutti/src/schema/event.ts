// The events of a run, and nothing else is ever decided. The names and members of document 004 come first in each
// payload; further members and further types are ours. Two kinds: those that decide something are folded by the rules;
// those that only tell are stored in the same sequence and shown, but no rule reads them.
import { z } from "zod";
import { AggregationAnswer, CompletionAnswer, VerificationAnswer } from "./answer.ts";
import { Budget, BUDGET_KINDS } from "./budget.ts";
import { Ending, FailureCause } from "./ending.ts";
import { HOOK_NAMES } from "./hook.ts";
import { InboxItem } from "./inbox.ts";
import { Conflict, Usage, Verdict } from "./outcome.ts";
import { PHASES, RUN_STATUSES, SUBSESSION_STATUS } from "./status.ts";
import { Task } from "./task.ts";
import { Template } from "./template.ts";
import { Origin, ToolStats } from "./worker.ts";

const Phase = z.enum(PHASES as [(typeof PHASES)[number]]);
const RunStatus = z.enum(RUN_STATUSES as [(typeof RUN_STATUSES)[number]]);
const worker = { sessionId: z.string(), orchestratorId: z.string(), taskId: z.string() };
const session = { id: z.string(), sessionId: z.string(), taskId: z.string().nullable() };

const subSessionStatuses = Object.values(SUBSESSION_STATUS);
const SubSessionStatus = z.enum(subSessionStatuses as [(typeof subSessionStatuses)[number]]);
const relation = { childSessionId: z.string(), parentSessionId: z.string() };
const SubSessionUpdates = z.strictObject({
  lastAssistantMessage: z.string().nullable().optional(),
  messageCount: z.number().int().min(0).optional(),
  error: z.string().nullable().optional(),
  lastActivityAt: z.number().optional(),
  returnedAt: z.number().optional(),
});
export type SubSessionUpdates = z.infer<typeof SubSessionUpdates>;

export const PAUSE_REASONS = ["person", "needs_input", "budget", "hook", "usage_limit", "provider"] as const;
const PauseReason = z.enum(PAUSE_REASONS);
export type PauseReason = z.infer<typeof PauseReason>;

/** What makes a request for a run repeatable. */
const Idempotency = z.object({ key: z.string(), body: z.string() });
export type Idempotency = z.infer<typeof Idempotency>;

/** One of the decisions that merging asked for, by its place among them. */
export const Decision = z.object({
  index: z.number().int().min(0),
  question: z.string(),
  answer: z.string(),
});
export type Decision = z.infer<typeof Decision>;

export const EVENTS = {
  "orchestrator:created": z.object({
    id: z.string(),
    templateId: z.string(),
    cwd: z.string(),
    status: z.literal("created"),
    template: Template,
    userRequest: z.string(),
    customVariables: z.record(z.string(), z.unknown()),
    agent: z.string(),
    /** Who stands behind the agents that have a name of the person's choice, which does not say it. */
    providers: z.record(z.string(), z.string()).optional(),
    /** The name that its request was given, and the hash of what it said: repeated, it makes no second run. */
    idempotency: Idempotency.optional(),
  }),
  "orchestrator:started": z.object({
    id: z.string(),
    mainSessionId: z.string(),
    phase: Phase,
    base: z.string(),
    warnings: z.array(z.string()),
  }),
  "orchestrator:phaseChanged": z.object({
    id: z.string(),
    previousPhase: Phase.nullable(),
    currentPhase: Phase,
    status: RunStatus,
  }),
  "orchestrator:analysisComplete": z.object({
    id: z.string(),
    analysis: z.object({
      summary: z.string(),
      recommendedSplits: z.number(),
      keyFiles: z.array(z.string()),
      estimatedComplexity: z.string().nullable(),
      components: z.array(z.unknown()),
      notes: z.string().nullable(),
      warnings: z.array(z.string()),
    }),
    /** Where the run's branch points: an analysis that is the whole run may have changed files. */
    head: z.string().optional(),
  }),
  "orchestrator:tasksReady": z.object({
    id: z.string(),
    taskCount: z.number(),
    parallelGroups: z.array(z.array(z.string())),
    tasks: z.array(Task),
    errors: z.array(z.string()),
    warnings: z.array(z.string()),
    /** The order that the main session wants if there is one worker at a time. */
    executionOrder: z.array(z.string()).nullable(),
  }),
  /** The person's word on the plan: which tasks there are now, which of them are left out, and what they may use. */
  "orchestrator:confirmed": z.object({
    id: z.string(),
    taskCount: z.number(),
    /** What is left out is as it was planned. */
    tasks: z.array(Task).optional(),
    parallelGroups: z.array(z.array(z.string())).optional(),
    skipped: z.record(z.string(), z.object({ satisfied: z.boolean() })),
    budget: Budget.optional(),
  }),
  /** The person wants another plan. */
  "orchestrator:changesRequested": z.object({ id: z.string(), text: z.string() }),
  "orchestrator:paused": z.object({
    id: z.string(),
    previousStatus: RunStatus,
    previousPhase: Phase.nullable(),
    reason: PauseReason,
    detail: z.string(),
  }),
  "orchestrator:resumed": z.object({
    id: z.string(),
    status: RunStatus,
    phase: Phase.nullable(),
    /** Whether nobody asked for it: the limit that the run waited for is over. */
    automatic: z.boolean().optional(),
  }),
  /** The provider of an agent refuses for now; nobody of the run asks it anything before that moment. */
  "provider:refused": z.object({
    id: z.string(),
    provider: z.string(),
    cause: FailureCause,
    detail: z.string(),
    until: z.number(),
    /** How often in a row. */
    count: z.number(),
    /** Whether no turn was ended by it: the agent goes on trying by itself. */
    trying: z.boolean().optional(),
  }),
  /** What the person decided where merging needed a decision. */
  "orchestrator:decided": z.object({ id: z.string(), decisions: z.array(Decision) }),
  /** What a person says to the main session or to the worker of a task; the session hears it with its next turn. */
  "message:sent": z.object({ id: z.string(), taskId: z.string().nullable(), text: z.string() }),
  "orchestrator:budgetReached": z.object({
    id: z.string(),
    kind: z.enum(BUDGET_KINDS),
    used: z.number(),
    limit: z.number(),
  }),
  "orchestrator:budgetChanged": z.object({ id: z.string(), budget: Budget }),
  /** A machine that slept or a clock that was set: time that nobody could use, and that counts against nobody. */
  "orchestrator:clockJumped": z.object({ id: z.string(), byMs: z.number() }),
  "orchestrator:cleanup": z.object({
    id: z.string(),
    archived: z.number(),
    deleted: z.number(),
    removed: z.boolean(),
  }),
  "orchestrator:aggregated": z.object({ id: z.string(), aggregation: AggregationAnswer, head: z.string() }),
  "orchestrator:verified": z.object({ id: z.string(), verification: VerificationAnswer, head: z.string() }),
  "orchestrator:completed": z.object({
    id: z.string(),
    status: z.literal("completed"),
    aggregation: AggregationAnswer.nullable(),
    stats: ToolStats,
    outcome: Verdict,
  }),
  "orchestrator:error": z.object({
    id: z.string(),
    operation: z.string(),
    error: z.string(),
    timestamp: z.string(),
    /** Whether the run ends here; an error that does not end it is only recorded. */
    fatal: z.boolean(),
    /** What kind of error, for programs. */
    code: z.string(),
  }),
  /** A person supplied what no session could; the run goes on where it had failed. */
  "orchestrator:reopened": z.object({ id: z.string(), phase: Phase, status: RunStatus }),
  "orchestrator:cancelled": z.object({ id: z.string(), phase: Phase.nullable() }),
  /** Everything before this was copied from another run, up to one of its events; a fresh fork takes over nothing more. */
  "orchestrator:forked": z.object({
    id: z.string(),
    from: z.string(),
    at: z.number(),
    fresh: z.boolean().optional(),
  }),
  /** Everything before this was written by another engine and taken in here. */
  "orchestrator:imported": z.object({ id: z.string() }),

  "main:spawning": z.object({
    ...session,
    attempt: z.number(),
    start: z.string(),
    /** Who works in it; without them the run's agent as main session. */
    agent: z.string().optional(),
    role: z.string().optional(),
  }),
  "main:spawned": z.object(session),
  "main:lost": z.object({ ...session, reason: z.string(), counted: z.boolean() }),
  /** The next phase is another agent's; this session is done. */
  "main:relieved": z.object(session),

  "worker:spawning": z.object({
    ...worker,
    attempt: z.number(),
    agent: z.string().optional(),
    role: z.string().optional(),
  }),
  /** `key` says what the attempt is about, by content: run/work-key.ts. */
  "worker:spawned": z.object({ ...worker, task: Task, start: z.string(), key: z.string().optional() }),
  "worker:started": z.object(worker),
  "worker:completed": z.object({
    ...worker,
    output: z.unknown(),
    outputFiles: z.array(z.string()),
    report: CompletionAnswer,
    commit: z.string(),
    partial: z.boolean(),
    /** No session worked on it: the same work had been done and accepted before, there and under that key. */
    reused: Origin.extend({ key: z.string() }).optional(),
  }),
  "worker:failed": z.object({ ...worker, error: z.string(), code: z.string() }),
  "worker:timeout": z.object({ ...worker, error: z.string(), code: z.string() }),
  "worker:cancelled": z.object(worker),
  "worker:paused": z.object({ ...worker, by: z.enum(["person", "run"]) }),
  "worker:resumed": z.object(worker),
  /** The task will be attempted anew: because a person asked, or by itself, and then not before a moment. */
  "worker:retrying": z.object({
    ...worker,
    retryCount: z.number(),
    automatic: z.boolean(),
    notBefore: z.number().nullable(),
  }),
  "workers:archived": z.object({
    orchestratorId: z.string(),
    count: z.number(),
    errors: z.array(z.object({ sessionId: z.string(), error: z.string() })),
  }),
  "workers:deleted": z.object({ orchestratorId: z.string(), count: z.number() }),
  /** The session of an attempt is gone without an answer; the task will be attempted anew. */
  "worker:lost": z.object({ ...worker, reason: z.string(), counted: z.boolean() }),

  "turn:started": z.object({ ...session, turn: z.number(), phase: Phase, try: z.number() }),
  "turn:ended": z.object({
    ...session,
    turn: z.number(),
    ending: Ending,
    /** Why the answer could not be used; empty when it was. */
    problems: z.array(z.string()),
    /** Whether the same is asked again without counting: the agent was not to blame. */
    again: z.boolean().optional(),
    /** What the agent said instead, cut to its end, and what its words seem to mean; only for people to read. */
    said: z.string().nullable(),
    guess: z.object({ phase: z.string(), confidence: z.number() }).nullable(),
    toolStats: ToolStats,
    usage: Usage,
  }),

  /** A session ended in the middle of a turn; what the turn had used by then is used all the same. */
  "turn:abandoned": z.object({ ...session, usage: Usage, toolStats: ToolStats }),

  "task:blocked": z.object({ id: z.string(), taskId: z.string(), because: z.array(z.string()) }),

  "workspace:merged": z.object({
    id: z.string(),
    taskId: z.string(),
    commit: z.string(),
    head: z.string(),
    /** Where it collided and one side was taken, as the template says. */
    settled: Conflict.optional(),
  }),
  "workspace:conflict": z.object({ id: z.string(), taskId: z.string(), commit: z.string(), conflict: Conflict }),
  /** What a worker that is still at work has made by now; only for people, and for a machine that dies. */
  "workspace:saved": z.object({ id: z.string(), sessionId: z.string(), taskId: z.string(), commit: z.string() }),
  /** No process and no workspace of this run is left. */
  "workspace:released": z.object({ id: z.string() }),

  "inbox:added": z.object({ id: z.string(), item: InboxItem }),
  "inbox:answered": z.object({ id: z.string(), itemId: z.string(), text: z.string(), withdrawn: z.boolean() }),

  /** Written before the hook runs, so that it never runs twice; `cause` is the place in the run's log that it tells of. */
  "hook:started": z.object({ id: z.string(), hook: z.enum(HOOK_NAMES), cause: z.number(), run: z.string() }),
  "hook:ended": z.object({
    id: z.string(),
    hook: z.enum(HOOK_NAMES),
    cause: z.number(),
    ok: z.boolean(),
    detail: z.string(),
    durationMs: z.number(),
  }),

  // Events of the server itself: they belong to no run, and no run is changed by them.
  /** A session that another one has started; `orchestratorId` where the parent is a session of a run. */
  "subsession:registered": z.object({
    ...relation,
    taskToolId: z.string().nullable(),
    timestamp: z.string(),
    orchestratorId: z.string().optional(),
    /** The agent of the parent told of it, and will tell of its end; nobody else can look at it. */
    reported: z.boolean().optional(),
  }),
  "subsession:unregistered": z.object({ ...relation, timestamp: z.string() }),
  "subsession:statusChanged": z.object({
    ...relation,
    previousStatus: SubSessionStatus,
    newStatus: SubSessionStatus,
    timestamp: z.string(),
    /** What became known with it. */
    updates: SubSessionUpdates.optional(),
  }),
  "subsession:activity": z.object({ ...relation, messageCount: z.number(), timestamp: z.string() }),
  "subsession:resultReturned": z.object({ ...relation, messageLength: z.number(), timestamp: z.string() }),
  "subsession:orphaned": z.object({ ...relation, timestamp: z.string() }),
  "subsession:error": z.object({ ...relation, error: z.string(), timestamp: z.string() }),
  "subsession:archived": z.object({ childSessionId: z.string(), timestamp: z.string() }),
  "subsession:monitoring:started": z.object({ timestamp: z.string() }),
  "subsession:monitoring:stopped": z.object({ timestamp: z.string() }),
  /** A template was found, or is another than the log last told; `hash` stands for its content. */
  "template:loaded": z.object({ id: z.string(), isSystem: z.boolean(), hash: z.string().optional() }),
  "template:created": z.object({ id: z.string(), name: z.string(), hash: z.string().optional() }),
  "template:updated": z.object({ id: z.string(), name: z.string(), hash: z.string().optional() }),
  "template:deleted": z.object({ id: z.string() }),
  "template:error": z.object({ file: z.string().optional(), error: z.string() }),
  /** A schedule has its run for a due time; null if a person started it. After a crash the same may be told twice. */
  "schedule:fired": z.object({ name: z.string(), due: z.number().nullable(), run: z.string() }),
  /** A due time of a schedule has no run and will have none. */
  "schedule:skipped": z.object({ name: z.string(), due: z.number(), reason: z.string() }),
  "trigger:fired": z.object({ name: z.string(), run: z.string() }),
  /** Somebody who knows a trigger's secret has sent a delivery for which no run could be made. */
  "trigger:refused": z.object({ name: z.string(), reason: z.string() }),

  // Events that only tell.
  "worker:progress": z.object({
    ...worker,
    progress: z.number(),
    status: z.string(),
    currentAction: z.string().nullable(),
    toolStats: ToolStats,
    outputPreview: z.string().nullable(),
  }),
  "orchestrator:progress": z.object({ id: z.string(), stats: ToolStats, currentAction: z.string().nullable() }),
  /** Tool calls that somebody counted beside the sessions. */
  "orchestrator:toolsCounted": z.object({ id: z.string(), toolStats: ToolStats }),
  /** A block that was seen and had no effect, with the reason. */
  "protocol:ignored": z.object({ ...session, phase: z.string(), reason: z.string() }),
  /** The place of an event whose run was deleted; the sequence has no gap. */
  "log:removed": z.object({}),
} as const;

export type EventType = keyof typeof EVENTS;
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]>;
/** An event before it has a place in the log. */
export type RunEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType];

type ServerPart = "subsession" | "template" | "schedule" | "trigger";
/** An event of the server itself, which stands in the server's own log. */
export type ServerEvent = Extract<RunEvent, { type: `${ServerPart}:${string}` }>;

export const isServerEvent = (event: { type: EventType }): event is ServerEvent =>
  /^(subsession|template|schedule|trigger):/.test(event.type);

/** What the fold needs to know of an event's place in the log. */
export interface Placed {
  runSeq: number;
  timestamp: number;
}

/** An event in the log. `seq` counts over the whole data folder, `runSeq` within the run, both from 1 and without gaps. */
export type StoredEvent = RunEvent & Placed & { seq: number; run: string | null };

const TELLING = new Set<EventType>([
  "worker:progress",
  "orchestrator:progress",
  "orchestrator:toolsCounted",
  "protocol:ignored",
  "workspace:saved",
  "log:removed",
]);
export const onlyTells = (type: EventType): boolean => TELLING.has(type);
