// Every event of runs and of the server. Document 004 defines the names and the first members of each payload; further
// members and types are Tutti's own. The rules read all events except the informational ones (`isInformational`), which are
// stored in the same sequence and only displayed.
import { z } from "zod";
import { AggregationAnswer, CompletionAnswer, VerificationAnswer } from "./answer.ts";
import { Budget, BUDGET_KINDS } from "./budget.ts";
import { Ending, FailureCause } from "./ending.ts";
import { HOOK_NAMES } from "./hook.ts";
import { InboxItem } from "./inbox.ts";
import { CheckedCommand, Conflict, ContextSize, FollowedRun, MovedRef, Usage, UsedName, Verdict } from "./outcome.ts";
import { SandboxState } from "./agent/sandbox.ts";
import { ORCHESTRATOR_PHASE, ORCHESTRATOR_STATUS, SUBAGENT_ENDS, SUBSESSION_STATUS } from "./status.ts";
import { HostLabels, Task } from "./task.ts";
import { QueuedMessage } from "./team/team-message.ts";
import { Template } from "./template.ts";
import { Origin, SubmittedWork, ToolStats } from "./worker.ts";

const Phase = z.enum(ORCHESTRATOR_PHASE);
const RunStatus = z.enum(ORCHESTRATOR_STATUS);
const worker = { sessionId: z.string(), orchestratorId: z.string(), taskId: z.string() };
const session = { id: z.string(), sessionId: z.string(), taskId: z.string().nullable() };

const message = { id: z.string(), messageId: z.string(), taskId: z.string() };
const gate = { id: z.string(), environment: z.string(), commit: z.string().nullable() };

const subagent = { childSessionId: z.string(), taskToolId: z.string().nullable() };

const SubSessionStatus = z.enum(SUBSESSION_STATUS);
const relation = { childSessionId: z.string(), parentSessionId: z.string() };
const SubSessionUpdates = z.strictObject({
  lastAssistantMessage: z.string().nullable().optional(),
  messageCount: z.number().int().min(0).optional(),
  error: z.string().nullable().optional(),
  lastActivityAt: z.number().optional(),
  returnedAt: z.number().optional(),
});
export type SubSessionUpdates = z.infer<typeof SubSessionUpdates>;

const PAUSE_REASONS = [
  "person",
  "needs_input",
  "budget",
  "hook",
  "usage_limit",
  "provider",
  "storage",
  "environment",
  "failure",
  "breaker",
] as const;
const PauseReason = z.enum(PAUSE_REASONS);
export type PauseReason = z.infer<typeof PauseReason>;

/** Identifies a repeated request for a run: its `Idempotency-Key` header and the hash of its body. */
const Idempotency = z.object({ key: z.string(), body: z.string() });
export type Idempotency = z.infer<typeof Idempotency>;

/** The user's answer to a decision that merging needs. `index` is its position among those asked for together. */
export const Decision = z.object({
  index: z.number().int().min(0),
  question: z.string(),
  answer: z.string(),
});
export type Decision = z.infer<typeof Decision>;

export const RunAnalysis = z.object({
  summary: z.string(),
  recommendedSplits: z.number(),
  keyFiles: z.array(z.string()),
  estimatedComplexity: z.string().nullable(),
  components: z.array(z.unknown()),
  notes: z.string().nullable(),
  warnings: z.array(z.string()),
});

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
    /** Maps each user-defined agent name to its provider, for example `fast` to `claude`. */
    providers: z.record(z.string(), z.string()).optional(),
    /** Names in the user's configuration that a plan made by a model may assign to tasks. */
    assignableAgents: z.array(z.string()).optional(),
    /** Set if the run starts from the result of this run instead of the user's HEAD. */
    follows: FollowedRun.optional(),
    scope: z.array(z.string()).optional(),
    /** Missing in runs of older versions, which had none. */
    sandbox: SandboxState.optional(),
    /** The `Idempotency-Key` of the request and the hash of its body. A repeated request creates no second run. */
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
    analysis: RunAnalysis,
    /** Commit of the run's branch. The analysis may change files if it is the only phase. */
    head: z.string().optional(),
  }),
  "orchestrator:tasksReady": z.object({
    id: z.string(),
    taskCount: z.number(),
    parallelGroups: z.array(z.array(z.string())),
    tasks: z.array(Task),
    errors: z.array(z.string()),
    warnings: z.array(z.string()),
    /** Order proposed by the main session, used if tasks run one at a time. */
    executionOrder: z.array(z.string()).nullable(),
  }),
  /** The user confirmed the plan, possibly with changed tasks, `skipped` tasks or another budget. */
  "orchestrator:confirmed": z.object({
    id: z.string(),
    taskCount: z.number(),
    /** If `tasks`, `parallelGroups` or `budget` is missing, the planned value stays. */
    tasks: z.array(Task).optional(),
    parallelGroups: z.array(z.array(z.string())).optional(),
    skipped: z.record(z.string(), z.object({ satisfied: z.boolean() })),
    budget: Budget.optional(),
  }),
  /** The user confirmed the plan before seeing it: a valid plan needs no further confirmation. */
  "orchestrator:confirmedAhead": z.object({ id: z.string() }),
  /** The user rejected the plan and described what to change. */
  "orchestrator:changesRequested": z.object({ id: z.string(), text: z.string() }),
  "orchestrator:paused": z.object({
    id: z.string(),
    previousStatus: RunStatus,
    previousPhase: Phase.nullable(),
    reason: PauseReason,
    detail: z.string(),
    /** The complete text of the program that failed. `detail` explains the failure. */
    output: z.string().optional(),
  }),
  "orchestrator:resumed": z.object({
    id: z.string(),
    status: RunStatus,
    phase: Phase.nullable(),
    /** True if the run resumed without a user request because a usage limit ended. */
    automatic: z.boolean().optional(),
  }),
  /** A provider refuses requests. No session of the run sends it another turn before `until`. */
  "provider:refused": z.object({
    id: z.string(),
    provider: z.string(),
    cause: FailureCause,
    detail: z.string(),
    until: z.number(),
    /** Number of refusals in a row. */
    count: z.number(),
    /** True if the refusal ended no turn because the agent retries by itself. */
    trying: z.boolean().optional(),
  }),
  /** The user answered decisions that merging needs. */
  "orchestrator:decided": z.object({ id: z.string(), decisions: z.array(Decision) }),
  /**
   * The user sent a message to the worker of `taskId`, or to the main session if null. Its next turn includes the message.
   * With `now`, an agent that cannot receive messages during a turn is interrupted.
   */
  "message:sent": z.object({
    id: z.string(),
    taskId: z.string().nullable(),
    text: z.string(),
    now: z.boolean().optional(),
    /** Set if the text is the result of this sub-session. Other messages are from the user. */
    from: z.string().optional(),
    /** True if the deadline of the task has passed. The answer of a turn without the reminder still counts. */
    isReminder: z.boolean().optional(),
  }),
  /** The agent received the message during its turn. `message` is its position among the messages of the run, from 0. */
  "message:steered": z.object({ ...session, message: z.number().int().min(0) }),
  "orchestrator:budgetReached": z.object({
    id: z.string(),
    kind: z.enum(BUDGET_KINDS),
    used: z.number(),
    limit: z.number(),
  }),
  "orchestrator:budgetChanged": z.object({ id: z.string(), budget: Budget }),
  /** The machine slept or its clock was changed. `byMs` counts against no timeout and no budget. */
  "orchestrator:clockJumped": z.object({ id: z.string(), byMs: z.number() }),
  "orchestrator:cleanup": z.object({
    id: z.string(),
    archived: z.number(),
    deleted: z.number(),
    removed: z.boolean(),
  }),
  "orchestrator:aggregated": z.object({
    id: z.string(),
    aggregation: AggregationAnswer,
    head: z.string(),
    /** Lenient interpretations of the answer. */
    warnings: z.array(z.string()).optional(),
    /** Claims of the answer about files that the result contradicts. */
    unproven: z.array(z.string()).optional(),
  }),
  /** The verification commands of the template run in the merged tree of `commit`. */
  "verification:checking": z.object({ id: z.string(), commit: z.string() }),
  "verification:checked": z.object({ id: z.string(), commit: z.string(), commands: z.array(CheckedCommand) }),
  /** The main session gets one turn to remove the `reasons` why the result is not good enough. */
  "verification:fixing": z.object({ id: z.string(), head: z.string(), reasons: z.array(z.string()) }),
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
    /** True if this error ends the run. Other errors are only recorded. */
    fatal: z.boolean(),
    /** Error code for programs. */
    code: z.string(),
  }),
  /** An ended run continues, because the user supplied missing data or retried a task. */
  "orchestrator:reopened": z.object({ id: z.string(), phase: Phase, status: RunStatus }),
  "orchestrator:cancelled": z.object({ id: z.string(), phase: Phase.nullable() }),
  /**
   * All earlier events are copies from run `from`, up to its event `at`. A `fresh` fork reuses no later results of it.
   */
  "orchestrator:forked": z.object({
    id: z.string(),
    from: z.string(),
    at: z.number(),
    fresh: z.boolean().optional(),
  }),
  /** All earlier events were written by another engine and imported. */
  "orchestrator:imported": z.object({ id: z.string() }),

  "main:spawning": z.object({
    ...session,
    attempt: z.number(),
    start: z.string(),
    /** Defaults to the run's agent. */
    agent: z.string().optional(),
    /** Defaults to `main`. */
    role: z.string().optional(),
    /** Defaults to the agent's own choice. */
    model: z.string().optional(),
  }),
  "main:spawned": z.object(session),
  "main:lost": z.object({ ...session, reason: z.string(), counted: z.boolean() }),
  /** The main session ends: the next phase needs another agent or role, or the user answered in its place. */
  "main:relieved": z.object(session),

  "worker:spawning": z.object({
    ...worker,
    attempt: z.number(),
    agent: z.string().optional(),
    role: z.string().optional(),
    /** Defaults to the agent's own choice. */
    model: z.string().optional(),
    /** Labels of the worker hosts that may run the task. */
    labels: HostLabels.optional(),
    /** Set if the dependencies had conflicts: the task starts from this commit of the run's branch. */
    start: z.string().optional(),
  }),
  /** `key` is a hash of everything that determines the work of the attempt. */
  "worker:spawned": z.object({ ...worker, task: Task, start: z.string(), key: z.string().optional() }),
  "worker:started": z.object(worker),
  "worker:completed": z.object({
    ...worker,
    output: z.unknown(),
    outputFiles: z.array(z.string()),
    report: CompletionAnswer,
    commit: z.string(),
    partial: z.boolean(),
    /** Sentences about claims of `report` that the work does not show. */
    warnings: z.array(z.string()).optional(),
    /** Set if no session did the work: the result comes from this earlier attempt, which had the same work key. */
    reused: Origin.extend({ key: z.string() }).optional(),
  }),
  "worker:failed": z.object({ ...worker, error: z.string(), code: z.string() }),
  "worker:timeout": z.object({ ...worker, error: z.string(), code: z.string() }),
  "worker:cancelled": z.object(worker),
  /** The agent of a role was stopped in the middle of its turn. `tookMs` is the time until its processes were gone. */
  "worker:stopped": z.object({ ...worker, tookMs: z.number() }),
  "worker:paused": z.object({ ...worker, by: z.enum(["person", "run", "conflict"]) }),
  "worker:resumed": z.object(worker),
  /** The task gets another attempt. An automatic retry does not start before `notBefore`; a retry by the user may. */
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
  /** The session of an attempt ended without an answer. The task gets another attempt. */
  "worker:lost": z.object({ ...worker, reason: z.string(), counted: z.boolean() }),
  /** The parent of the task delegated it again. The task gets another attempt. */
  "worker:redelegated": z.object({ ...worker, reason: z.string() }),

  "turn:started": z.object({ ...session, turn: z.number(), phase: Phase, try: z.number() }),
  "turn:ended": z.object({
    ...session,
    turn: z.number(),
    ending: Ending,
    /** Reasons why the answer was rejected; empty if no answer was rejected. */
    problems: z.array(z.string()),
    /** True if the same prompt is sent again without counting as a try, because the agent was not at fault. */
    again: z.boolean().optional(),
    /** True if the answer has to wait for sub-sessions of the session. The next turn begins when they have ended. */
    waits: z.boolean().optional(),
    /**
     * Set if the session was suspended for `asleepMs` in the middle of the turn. The agent has not received the answers to
     * the questions `unheard`.
     */
    cutOff: z.object({ asleepMs: z.number(), unheard: z.array(z.string()) }).optional(),
    /** The end of the agent's text if its answer was rejected. For display only. */
    said: z.string().nullable(),
    /** The phase that this text seems to answer. For display only. */
    guess: z.object({ phase: z.string(), confidence: z.number() }).nullable(),
    toolStats: ToolStats,
    usage: Usage,
    /** After a turn of a main session that delegates: as its agent reports it, else an estimate. */
    context: ContextSize.optional(),
  }),

  /** A session ended in the middle of a turn. The `usage` and `toolStats` of that turn still count. */
  "turn:abandoned": z.object({ ...session, usage: Usage, toolStats: ToolStats }),

  /** A message between two roles of a team. A role's own messages are queued when its turn ends. */
  "message:queued": z.object({ id: z.string(), message: QueuedMessage }),
  /** A turn that contains the message started, or the engine read it. */
  "message:delivered": z.object(message),
  "message:acknowledged": z.object(message),
  /** The role did not acknowledge the message in time. It is part of the next turn as a new message. */
  "message:resent": z.object({ ...message, after: z.number() }),
  /** The message was not acknowledged after it was sent again, or its session ended. */
  "message:expired": z.object({ ...message, reason: z.string() }),
  /** The message had its effect: the task was completed, approved or sent back. */
  "message:acted": z.object(message),
  /** The message has no effect, for example because its sender may not send it. */
  "message:rejected": z.object({ ...message, reasons: z.array(z.string()) }),

  /** The work of a role waits for the verdict of the main session on the message `messageId`. */
  "task:submitted": z.object({
    ...session,
    taskId: z.string(),
    messageId: z.string(),
    body: z.record(z.string(), z.unknown()),
    work: SubmittedWork,
  }),
  /** The main session is asked about the message of a role, or the session of `parent` about a task that it delegated. */
  "lead:asked": z.object({ ...message, sessionId: z.string(), parent: z.string().optional() }),
  "lead:answered": z.object({ ...message, parent: z.string().optional() }),
  /** The main session that delegates reports that the request is done. */
  "lead:completed": z.object({ id: z.string(), summary: z.string(), body: z.record(z.string(), z.unknown()) }),
  /** The session waits for the tasks that it delegated. */
  "task:delegating": z.object({ ...session, taskId: z.string() }),
  "task:approved": z.object({ ...session, taskId: z.string(), by: z.string() }),
  "criterion:judged": z.object({
    id: z.string(),
    taskId: z.string(),
    index: z.number().int().min(0),
    criterion: z.string(),
    met: z.boolean(),
    by: z.string(),
  }),
  /** A role cannot continue. The inbox item `itemId` asks for an answer; without it, the main session is asked. */
  "blocker:raised": z.object({
    id: z.string(),
    sessionId: z.string(),
    taskId: z.string(),
    itemId: z.string().nullable(),
    /** Missing if the role escalated by a tool call. */
    messageId: z.string().optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    description: z.string(),
    blockerType: z.string(),
    severity: z.string(),
    /**
     * Missing for an escalation of the role. The session continues while the user decides about a `deadline` or an
     * `interface`.
     */
    cause: z.enum(["deadline", "interface"]).optional(),
  }),
  "blocker:resolved": z.object({
    id: z.string(),
    taskId: z.string(),
    itemId: z.string().nullable(),
    decision: z.string(),
    by: z.string(),
    /** The new requirements of the task, if the decision changes them. */
    requirements: z.array(z.string()).optional(),
  }),
  /** The `deadline` of the task, in milliseconds, has passed. Its role is reminded, later the user is asked. */
  "task:overdue": z.object({ id: z.string(), taskId: z.string(), sessionId: z.string(), deadline: z.number() }),
  /** A completion of the task was sent back, and its session has to submit it again. */
  "task:rejected": z.object({
    ...session,
    taskId: z.string(),
    by: z.string(),
    reasons: z.array(z.string()),
    /** Number of rejections of this attempt so far. */
    count: z.number(),
  }),

  /** The gate of the environment is open for `commit`, because the review `messageId` approved it. */
  "gate:opened": z.object({
    ...gate,
    commit: z.string(),
    taskId: z.string(),
    sessionId: z.string(),
    messageId: z.string(),
    approvedBy: z.string(),
    covers: z.record(z.string(), z.string().nullable()),
  }),
  /** `review` is the task that did not approve, if one closed the gate. */
  "gate:closed": z.object({ ...gate, reasons: z.array(z.string()), review: z.string().optional() }),
  /** The gate stayed closed for a review or for a deployment that was attempted. */
  "gate:refused": z.object({
    ...gate,
    taskId: z.string(),
    code: z.literal("gate_closed"),
    reasons: z.array(z.string()),
  }),
  "gate:overridden": z.object({
    ...gate,
    commit: z.string(),
    by: z.string(),
    reason: z.string(),
    covers: z.record(z.string(), z.string().nullable()),
    /** The review that the override replaces, if it did not complete. */
    review: z.string().optional(),
  }),

  /** `count` tasks of a continuous run failed in the same way, one after the other. The run is paused. */
  "breaker:open": z.object({ id: z.string(), code: z.string(), count: z.number().int().min(1), reason: z.string() }),
  /**
   * The plan gets tasks: those that fix the issues of a review and review it again, those that a
   * session delegated, or those of a further cycle.
   */
  "plan:extended": z.object({
    id: z.string(),
    added: z.array(z.string()),
    tasks: z.array(Task),
    parallelGroups: z.array(z.array(z.string())),
  }),
  /** A task that the gate had blocked may start. */
  "task:unblocked": z.object({ id: z.string(), taskId: z.string() }),

  "task:blocked": z.object({ id: z.string(), taskId: z.string(), because: z.array(z.string()) }),

  "workspace:merged": z.object({
    id: z.string(),
    taskId: z.string(),
    commit: z.string(),
    head: z.string(),
    /** The conflict, if there was one and the template's policy chose a side. */
    settled: Conflict.optional(),
  }),
  /**
   * The saved work of two tasks at work conflicts in `files`, which are empty if it no longer does. The first task started
   * earlier.
   */
  "conflict:emerging": z.object({ id: z.string(), tasks: z.array(z.string()), files: z.array(z.string()) }),
  /**
   * The work of the tasks in `head` has `names` that one task changed and another one uses. Found before the aggregation.
   * Empty if only an earlier `head` had some.
   */
  "conflict:names": z.object({ id: z.string(), head: z.string(), names: z.array(UsedName) }),
  /** The work of a task is merged, except for its side of a conflict that is still open. */
  "workspace:conflict": z.object({
    id: z.string(),
    taskId: z.string(),
    commit: z.string(),
    /** Missing in logs of versions that left out the whole work of the task. */
    head: z.string().optional(),
    conflict: Conflict,
  }),
  /**
   * The commands of the template ran in the files of `commit`: the run's branch with the work of `tasks`. Without tasks it is
   * the branch alone; if that fails, no task can be blamed.
   */
  "merge:checked": z.object({
    id: z.string(),
    tasks: z.array(z.string()),
    commit: z.string(),
    commands: z.array(CheckedCommand),
  }),
  /**
   * The commands pass on `head`, the run's branch, and fail on `start`, which adds the work of this task. A new attempt starts
   * there, or the task fails.
   */
  "merge:rejected": z.object({
    id: z.string(),
    taskId: z.string(),
    commit: z.string(),
    head: z.string(),
    start: z.string(),
    commands: z.array(CheckedCommand),
  }),
  /** The main session settles the open conflicts in `files` before `tasks`, which build on them, start. */
  "workspace:repairing": z.object({ id: z.string(), files: z.array(z.string()), tasks: z.array(z.string()) }),
  "workspace:repaired": z.object({ id: z.string(), repair: AggregationAnswer, head: z.string() }),
  /** The attempt changed files outside the run's scope. They stay out of the result. */
  "workspace:outside": z.object({
    id: z.string(),
    taskId: z.string().nullable(),
    attempt: z.number(),
    files: z.array(z.string()),
  }),
  /** The unfinished work of a running worker was committed, so that it survives a failure of the machine. */
  "workspace:saved": z.object({ id: z.string(), sessionId: z.string(), taskId: z.string(), commit: z.string() }),
  /** Something other than Tutti moved or deleted a ref of this run. The run's work does not include the commit found there. */
  "branch:moved": MovedRef.extend({ id: z.string() }),
  /**
   * While the session was active, refs, settings or hooks of the user's repository changed. It is unknown whether the session or
   * the user changed them. A missing `from` or `to` means that the ref did not exist.
   */
  "repository:changed": z.object({
    ...session,
    refs: z.array(z.object({ ref: z.string(), from: z.string().optional(), to: z.string().optional() })),
    /** Names of changed settings, without their values. */
    settings: z.array(z.string()),
    /** Other files of the git folder, such as `hooks/pre-commit`. */
    files: z.array(z.string()).optional(),
  }),
  /** All processes and workspaces of this run are removed. */
  "workspace:released": z.object({ id: z.string() }),

  "inbox:added": z.object({ id: z.string(), item: InboxItem }),
  "inbox:answered": z.object({ id: z.string(), itemId: z.string(), text: z.string(), withdrawn: z.boolean() }),

  /** Appended before the hook runs, so that it never runs twice. `cause` is the `runSeq` of the triggering event. */
  "hook:started": z.object({ id: z.string(), hook: z.enum(HOOK_NAMES), cause: z.number(), run: z.string() }),
  "hook:ended": z.object({
    id: z.string(),
    hook: z.enum(HOOK_NAMES),
    cause: z.number(),
    ok: z.boolean(),
    detail: z.string(),
    durationMs: z.number(),
  }),

  /**
   * The agent of a session started an agent of its own, the sub-session `childSessionId`. `taskToolId` is the id of the
   * call that started it: the calls of the sub-agent have it as their `parent` in the transcript of the session.
   */
  "subagent:started": z.object({
    ...session,
    ...subagent,
    description: z.string().nullable(),
    /** The sub-session that started it, if that is not the session itself. */
    parentSessionId: z.string().optional(),
    /** True if it is a session of its own that was registered as a sub-session. */
    registered: z.boolean().optional(),
  }),
  "subagent:ended": z.object({
    ...session,
    ...subagent,
    /** The result, or the reason of a failure. */
    text: z.string().nullable(),
    /** Missing if it completed. */
    status: z.enum(SUBAGENT_ENDS).optional(),
  }),

  // Server events: they belong to no run and change no run.
  /** A session was started by another session. `orchestratorId` is set if the parent belongs to a run. */
  "subsession:registered": z.object({
    ...relation,
    taskToolId: z.string().nullable(),
    timestamp: z.string(),
    orchestratorId: z.string().optional(),
    /** True if only the parent's agent reports on this sub-session; the server cannot poll it. */
    reported: z.boolean().optional(),
  }),
  "subsession:unregistered": z.object({ ...relation, timestamp: z.string() }),
  "subsession:statusChanged": z.object({
    ...relation,
    previousStatus: SubSessionStatus,
    newStatus: SubSessionStatus,
    timestamp: z.string(),
    /** Members that change together with `newStatus`. */
    updates: SubSessionUpdates.optional(),
  }),
  "subsession:activity": z.object({ ...relation, messageCount: z.number(), timestamp: z.string() }),
  "subsession:resultReturned": z.object({ ...relation, messageLength: z.number(), timestamp: z.string() }),
  "subsession:orphaned": z.object({ ...relation, timestamp: z.string() }),
  "subsession:error": z.object({ ...relation, error: z.string(), timestamp: z.string() }),
  "subsession:archived": z.object({ childSessionId: z.string(), timestamp: z.string() }),
  /** The transcript of the session is searched for sub-sessions that it starts, until it is gone. */
  "subsession:watched": z.object({ parentSessionId: z.string(), timestamp: z.string() }),
  "subsession:unwatched": z.object({ parentSessionId: z.string(), timestamp: z.string() }),
  "subsession:monitoring:started": z.object({ timestamp: z.string() }),
  "subsession:monitoring:stopped": z.object({ timestamp: z.string() }),
  /** A template was found, or its content differs from the last logged version. `hash` identifies the content. */
  "template:loaded": z.object({ id: z.string(), isSystem: z.boolean(), hash: z.string().optional() }),
  "template:created": z.object({ id: z.string(), name: z.string(), hash: z.string().optional() }),
  "template:updated": z.object({ id: z.string(), name: z.string(), hash: z.string().optional() }),
  "template:deleted": z.object({ id: z.string() }),
  "template:error": z.object({ file: z.string().optional(), error: z.string() }),
  /** A schedule created a run. `due` is null if the user started it. After a crash the event may repeat. */
  "schedule:fired": z.object({ name: z.string(), due: z.number().nullable(), run: z.string() }),
  /** A due time of a schedule was skipped: it has no run and gets none. */
  "schedule:skipped": z.object({ name: z.string(), due: z.number(), reason: z.string() }),
  "trigger:fired": z.object({ name: z.string(), run: z.string() }),
  /** A trigger received a correctly signed delivery, but no run could be created for it. */
  "trigger:refused": z.object({ name: z.string(), reason: z.string() }),

  /** The user took the result into `branch`, which moved from the commit `from` to `to`. */
  "result:merged": z.object({ id: z.string(), branch: z.string(), from: z.string(), to: z.string() }),
  /** The user removed the branch of the run, which was at `commit`. */
  "result:dropped": z.object({ id: z.string(), commit: z.string() }),

  // Informational events.
  "worker:progress": z.object({
    ...worker,
    progress: z.number(),
    status: z.string(),
    currentAction: z.string().nullable(),
    toolStats: ToolStats,
    outputPreview: z.string().nullable(),
  }),
  "orchestrator:progress": z.object({ id: z.string(), stats: ToolStats, currentAction: z.string().nullable() }),
  /** Tool calls counted by a program that uses the library, in addition to those of the sessions. */
  "orchestrator:toolsCounted": z.object({ id: z.string(), toolStats: ToolStats }),
  /** A block in an agent's output had no effect. */
  "protocol:ignored": z.object({ ...session, phase: z.string(), reason: z.string() }),
  /** Placeholder for an event of a deleted run, so that `seq` has no gaps. */
  "log:removed": z.object({}),
} as const;

export type EventType = keyof typeof EVENTS;
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]>;
/** A `RunEvent` has no `seq` and `runSeq` yet, which the store assigns. */
export type RunEvent = { [T in EventType]: EventOf<T> }[EventType];
export type EventOf<T extends EventType> = { type: T; data: EventData<T> };

type ServerPart = "subsession" | "template" | "schedule" | "trigger";
/** A `ServerEvent` belongs to no run. The log stores it with `run: null`. */
export type ServerEvent = Extract<RunEvent, { type: `${ServerPart}:${string}` }>;

export const isServerEvent = (event: { type: EventType }): event is ServerEvent =>
  /^(subsession|template|schedule|trigger):/.test(event.type);

/** `timestamp` is in milliseconds since 1970. */
export interface LogPosition {
  runSeq: number;
  timestamp: number;
}

/** `seq` of a `StoredEvent` counts over the whole data folder, `runSeq` within the run, both from 1 without gaps. */
export type StoredEvent = RunEvent & LogPosition & { seq: number; run: string | null };

const INFORMATIONAL = new Set<EventType>([
  "worker:progress",
  "orchestrator:progress",
  "orchestrator:toolsCounted",
  "protocol:ignored",
  "workspace:saved",
  "log:removed",
]);
export const isInformational = (type: EventType): boolean => INFORMATIONAL.has(type);

/** `data` of a `RawEvent` is JSON text: a reader that only forwards it need not parse and encode it. */
export type RawEvent = Omit<StoredEvent, "data"> & { data: string };

export const encodeStored = (event: StoredEvent): RawEvent => ({ ...event, data: JSON.stringify(event.data) });
