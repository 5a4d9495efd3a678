// The fold: `apply` returns the run after one more event. Server, tests and dashboard share it, so a log has the same
// meaning everywhere.
//
// Invariants
// 1. `apply` rejects no event and reads no clock.
// 2. `apply` does not change its argument. Both states share every part that the event does not touch.
// 3. Informational events (`isInformational`) change only displayed values, never values that `decide` or `schedule` read.
import { applyToSession, resumeSession } from "./fold/apply-session.ts";
import { answerNote, asking } from "./fold/asking.ts";
import { firstAsking } from "./fold/first-asking.ts";
import { workerOf, workersOf } from "./lookup.ts";
import { soundOrder } from "./plan/plan.ts";
import { noteHold, noteRefused } from "./provider/provider-waits.ts";
import { emptyRecord, entryOf, valuesOf, withEntry, withoutEntries } from "./fold/shared-record.ts";
import { withWorker } from "./fold/with-worker.ts";
import { applyToTeam, closeGates, countFailures, dropDuty, leaveToUser } from "./team/apply-team.ts";
import type { AggregationAnswer } from "../schema/answer.ts";
import { isServerEvent, type EventData, type LogPosition, type RunEvent } from "../schema/event.ts";
import { NO_USAGE, type Verdict } from "../schema/outcome.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { GivenAnswer, Run, Subagent } from "../schema/run.ts";
import { isRunOver, type Phase, type RunStatus } from "../schema/status.ts";
import { addTools, NO_TOOLS, type Owed, type SessionState } from "../schema/worker.ts";
import { sentence } from "../sentence.ts";

/**
 * Raise `FOLD_VERSION` whenever the same events fold to a different state, or `writeState` writes it differently.
 * Snapshots with another version are folded again.
 */
export const FOLD_VERSION = 21;

export function apply(run: Run | null, event: RunEvent & LogPosition): Run {
  if (event.type === "orchestrator:created") return born(event.data, event);
  if (run === null) throw new Error(`the log of a run must begin with orchestrator:created, not with ${event.type}`);
  const changed = moved(run, dropDuty(change(run, event)), event);
  return noteHold(run, noteRefused(run, changed, event), event.timestamp);
}

/** Reuses `changed`, which nothing else refers to unless it is `run` itself. */
function moved(run: Run, changed: Run, { runSeq, timestamp }: LogPosition): Run {
  if (changed === run) return { ...run, runSeq, updatedAt: timestamp };
  changed.runSeq = runSeq;
  changed.updatedAt = timestamp;
  return changed;
}

/** Continues from the state `run`, or starts a log if it is null. */
export function fold(run: Run | null, events: Iterable<RunEvent & LogPosition>): Run | null {
  for (const event of events) run = apply(run, event);
  return run;
}

type HookState = Run["hooks"][string];

function born(data: EventData<"orchestrator:created">, { runSeq, timestamp }: LogPosition): Run {
  return {
    id: data.id,
    templateId: data.templateId,
    template: data.template,
    cwd: data.cwd,
    userRequest: data.userRequest,
    customVariables: data.customVariables,
    agent: data.agent,
    status: "created",
    outcome: null,
    pausedFrom: null,
    currentPhase: null,
    mainSessionId: null,
    main: null,
    owed: null,
    mainLosses: 0,
    analysis: null,
    tasks: [],
    parallelGroups: [],
    planErrors: [],
    planWarnings: [],
    executionOrder: null,
    skipped: {},
    workers: emptyRecord(),
    blocked: emptyRecord(),
    base: null,
    head: null,
    conflicts: [],
    aggregation: null,
    verification: null,
    inbox: emptyRecord(),
    answers: emptyRecord(),
    decisions: [],
    messages: [],
    budget: data.template.config.budget,
    turns: 0,
    sessions: 0,
    idleMs: 0,
    idleSince: null,
    lastSpawnAt: null,
    phaseSince: null,
    refusals: {},
    autoResumes: 0,
    hooks: emptyRecord(),
    usage: NO_USAGE,
    toolStats: NO_TOOLS,
    errors: [],
    forkedFrom: null,
    idempotency: data.idempotency ?? null,
    ...(data.providers && { providers: data.providers }),
    ...(data.follows && { follows: data.follows }),
    ...(data.scope && { scope: data.scope }),
    sandbox: data.sandbox ?? "off",
    ...(data.assignableAgents && { assignableAgents: data.assignableAgents }),
    released: false,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: null,
    completedAt: null,
    runSeq,
  };
}

function change(run: Run, event: RunEvent & LogPosition): Run {
  if (isServerEvent(event)) return run;
  switch (event.type) {
    case "orchestrator:started":
      return {
        ...run,
        status: event.data.phase === "analysis" ? "analyzing" : "planning",
        currentPhase: event.data.phase,
        phaseSince: event.timestamp,
        mainSessionId: event.data.mainSessionId,
        owed: firstAsking(event.data.phase),
        base: event.data.base,
        head: event.data.base,
        startedAt: event.timestamp,
      };
    case "orchestrator:phaseChanged": {
      const entered = enterPhase(run, event.data.currentPhase, event.data.status, event.timestamp);
      const isAgain = event.data.currentPhase === "taskPlanning" && run.tasks.length > 0;
      return isAgain ? { ...entered, cycle: (run.cycle ?? 1) + 1 } : entered;
    }
    case "orchestrator:analysisComplete":
      return { ...run, analysis: event.data.analysis, head: event.data.head ?? run.head, owed: null };
    case "orchestrator:tasksReady":
      return {
        ...withStatus(beIdle(run, event.timestamp), "confirming", run.currentPhase),
        owed: null,
        tasks: event.data.tasks,
        parallelGroups: event.data.parallelGroups,
        planErrors: event.data.errors,
        planWarnings: event.data.warnings,
        executionOrder: event.data.executionOrder,
        // Without the phase `workerExecution` the plan is the result, so all its tasks count as skipped.
        skipped: run.template.phases.workerExecution.enabled
          ? {}
          : Object.fromEntries(event.data.tasks.map(({ id }) => [id, { satisfied: true }])),
      };
    case "message:sent": {
      const { id: _, ...message } = event.data;
      return { ...run, messages: [...run.messages, { ...message, told: false }] };
    }
    case "message:steered": {
      const isTold = (index: number): boolean => index === event.data.message;
      return { ...run, messages: run.messages.map((each, i) => (isTold(i) ? { ...each, told: true } : each)) };
    }
    case "orchestrator:created":
    case "log:removed":
    case "orchestrator:cleanup":
    case "workers:archived":
    case "workers:deleted":
    case "orchestrator:budgetReached":
      return run;
    case "orchestrator:forked": {
      const { from, at, fresh = false } = event.data;
      const forkedFrom = fresh ? null : { run: from, at };
      return { ...closeGates(run, FORKED), forkedFrom, idempotency: null };
    }
    case "orchestrator:imported":
      // `forkedFrom` names a run of another engine. A run with the same id may exist here by coincidence.
      return { ...closeGates(run, IMPORTED), forkedFrom: null, idempotency: null };
    case "orchestrator:confirmed": {
      const { tasks = run.tasks, parallelGroups = run.parallelGroups, skipped, budget = run.budget } = event.data;
      const order = soundOrder(tasks, run.executionOrder);
      const confirmed = { tasks, parallelGroups, skipped, budget, executionOrder: order, planErrors: [] };
      return { ...beBusy(run, event.timestamp), ...confirmed };
    }
    case "orchestrator:confirmedAhead":
      return { ...run, template: { ...run.template, config: { ...run.template.config, autoSpawn: true } } };
    case "orchestrator:changesRequested": {
      const note = `The user reviewed your plan and requests these changes: ${event.data.text}`;
      return {
        ...beBusy(run, event.timestamp),
        status: "planning",
        owed: { ...firstAsking("taskPlanning"), note },
        tasks: [],
        parallelGroups: [],
        planErrors: [],
        planWarnings: [],
      };
    }
    case "orchestrator:paused": {
      const { previousStatus: status, previousPhase: phase, reason, detail } = event.data;
      const main = run.main && run.main.state !== "over" ? { ...run.main, pausedAt: event.timestamp } : run.main;
      const pausedFrom = { status, phase, at: event.timestamp, reason, detail };
      return { ...beIdle(run, event.timestamp), status: "paused", pausedFrom, main };
    }
    case "orchestrator:resumed": {
      const resumed = resume(run, event.data.status, event.timestamp);
      return event.data.automatic ? { ...resumed, autoResumes: run.autoResumes + 1 } : resumed;
    }
    case "provider:refused": {
      const { provider, cause, detail, until, count, trying = false } = event.data;
      const previous = Object.hasOwn(run.refusals, provider) ? run.refusals[provider]! : null;
      const settledUntil = trying ? (previous?.settledUntil ?? 0) : until;
      return { ...run, refusals: { ...run.refusals, [provider]: { cause, detail, until, settledUntil, count } } };
    }
    case "orchestrator:decided": {
      const decisions = [...run.decisions, ...event.data.decisions];
      return { ...run, decisions, owed: { ...firstAsking("aggregation"), note: noteOf(decisions) } };
    }
    case "orchestrator:budgetChanged":
      return { ...run, budget: event.data.budget };
    case "orchestrator:clockJumped":
      return shiftClocks(run, event.data.byMs, event.timestamp);
    case "hook:started":
      return { ...run, hooks: withEntry<HookState>(run.hooks, hookKey(event.data.hook, event.data.cause), "running") };
    case "hook:ended":
      return { ...run, hooks: withEntry<HookState>(run.hooks, hookKey(event.data.hook, event.data.cause), "ended") };
    case "orchestrator:toolsCounted":
      return { ...run, toolStats: addTools(run.toolStats, event.data.toolStats) };
    case "orchestrator:aggregated": {
      const { aggregation, head, unproven } = event.data;
      const { unproven: _, ...before } = run;
      const conflicts = aggregation.status === "success" ? settleConflicts(run, aggregation) : run.conflicts;
      return { ...before, aggregation, head, owed: null, conflicts, ...(unproven && { unproven }) };
    }
    case "verification:checking":
      return { ...run, checks: { commit: event.data.commit, commands: [], isRunning: true } };
    case "verification:checked": {
      const { commit, commands } = event.data;
      // The commands had their own time limits, so `checkedMs` does not count against the limit of the phase.
      const checkedMs = commands.reduce((sum, { durationMs }) => sum + durationMs, 0);
      const main = run.main && { ...run.main, waitedMs: run.main.waitedMs + checkedMs };
      return { ...run, main, checks: { commit, commands, isRunning: false } };
    }
    case "verification:fixing": {
      const { head, reasons } = event.data;
      return { ...run, head, isFixing: true, owed: { ...firstAsking("verification"), note: fixNote(reasons) } };
    }
    case "orchestrator:verified":
      return { ...run, verification: event.data.verification, head: event.data.head, owed: null };
    case "orchestrator:reopened": {
      const { phase, status } = event.data;
      const { checks: _, isFixing: __, leadReport: ___, unproven, ...open } = run;
      // A phase before the merge runs again, so the `decisions` about the merge are dropped.
      const decisions = phase === "aggregation" || phase === "verification" ? run.decisions : [];
      const note = phase === "aggregation" ? noteOf(decisions) : null;
      return {
        ...open,
        status,
        currentPhase: phase,
        phaseSince: event.timestamp,
        owed: PHASES_OF_MAIN.has(phase) ? { ...firstAsking(phase), note } : null,
        mainLosses: 0,
        outcome: null,
        completedAt: null,
        released: false,
        // The phases after the reopened one run again, so their results are dropped.
        aggregation: phase === "verification" ? run.aggregation : null,
        ...(phase === "verification" && unproven && { unproven }),
        verification: null,
        decisions,
      };
    }
    case "orchestrator:completed":
      return end(run, "completed", event.data.outcome, event.timestamp);
    case "orchestrator:cancelled":
      return end(run, "cancelled", "cancelled", event.timestamp);
    case "orchestrator:error": {
      const { error, code, fatal } = event.data;
      const errors = [...run.errors, { phase: run.currentPhase, error, code, timestamp: event.timestamp }];
      return fatal ? { ...end(run, "error", "failed", event.timestamp), errors } : { ...run, errors };
    }
    case "task:blocked":
      return { ...run, blocked: withEntry(run.blocked, event.data.taskId, event.data.because) };
    case "workspace:merged": {
      const { taskId, head, settled } = event.data;
      const merged = withWorker(run, taskId, { merged: "merged" });
      return { ...merged, head, conflicts: settled ? [...run.conflicts, settled] : run.conflicts };
    }
    case "conflict:emerging": {
      const { id: _, ...conflict } = event.data;
      const others = (run.emerging ?? []).filter(({ tasks }) => !tasks.every((id) => conflict.tasks.includes(id)));
      return { ...run, emerging: [...others, conflict] };
    }
    case "conflict:names": {
      const { head, names } = event.data;
      return { ...run, usedNames: { head, names } };
    }
    case "merge:checked": {
      const { tasks, commands } = event.data;
      const failed = commands.filter(({ exitCode }) => exitCode !== 0);
      return tasks.length === 0 && failed.length > 0 ? { ...run, redBase: failed } : run;
    }
    case "merge:rejected": {
      const { taskId, head, start, commands } = event.data;
      const { attempt, outputFiles: files } = workerOf(run, taskId)!;
      // A result of an earlier run knows nothing of the rejection, so `anew` forbids reusing one.
      return withWorker(run, taskId, { commit: null, rework: { attempt, head, start, files, commands }, anew: true });
    }
    case "workspace:conflict": {
      const { taskId, head, conflict } = event.data;
      const conflicted = withWorker(run, taskId, { merged: head === undefined ? "conflict" : "merged" });
      return { ...conflicted, head: head ?? run.head, conflicts: [...run.conflicts, conflict] };
    }
    case "workspace:repairing":
      return { ...run, owed: firstAsking("aggregation") };
    case "workspace:repaired": {
      const { head, repair } = event.data;
      // `success` means that every open conflict is resolved, for nothing else was asked.
      const conflicts = settleConflicts(run, repair, repair.summary ?? sentence("resolved by the main session"));
      // The `decisions` were about these conflicts. Later ones need their own.
      return { ...run, head, conflicts, owed: null, decisions: [] };
    }
    case "workspace:outside": {
      const { id: _, ...outside } = event.data;
      return { ...run, outside: [...(run.outside ?? []), outside] };
    }
    case "branch:moved": {
      const { id: _, ...moved } = event.data;
      // The branch of an ended run is compared once more when it is released, so this event can follow the `outcome`.
      const outcome = run.outcome === "success" ? ("degraded" as const) : run.outcome;
      return { ...run, outcome, movedRefs: [...(run.movedRefs ?? []), moved] };
    }
    case "subagent:started": {
      const { id: _, childSessionId, ...about } = event.data;
      const started = { ...about, startedAt: event.timestamp, endedAt: null };
      return { ...run, subagents: withEntry<Subagent>(run.subagents ?? emptyRecord(), childSessionId, started) };
    }
    case "subagent:ended": {
      const { childSessionId, status = "completed", text } = event.data;
      const started = run.subagents && entryOf(run.subagents, childSessionId);
      if (!started) return run;
      const reason = status === "completed" || text === null ? {} : { text };
      const ended = { ...started, endedAt: event.timestamp, status, ...reason };
      return { ...run, subagents: withEntry<Subagent>(run.subagents ?? emptyRecord(), childSessionId, ended) };
    }
    case "repository:changed": {
      const { id: _, ...changed } = event.data;
      return { ...run, repositoryChanges: [...(run.repositoryChanges ?? []), changed] };
    }
    case "workspace:released":
      return { ...run, released: true };
    case "inbox:added": {
      const { item } = event.data;
      const added = { ...run, inbox: withEntry(run.inbox, item.id, item) };
      return item.kind === "validation" ? leaveToUser(added, item) : noteAsk(added, item, null, 0);
    }
    case "inbox:answered": {
      const item = entryOf(run.inbox, event.data.itemId);
      if (!item) return run;
      const inbox = withoutEntries(run.inbox, [item.id]);
      return noteAsk(
        { ...run, inbox },
        item,
        event.data.withdrawn ? null : event.data.text,
        event.timestamp - item.createdAt,
      );
    }
    case "protocol:ignored":
    case "workspace:saved":
    case "result:merged":
    case "result:dropped":
      return run;
    case "task:submitted":
    case "task:overdue":
    case "task:approved":
    case "lead:asked":
    case "lead:answered":
    case "lead:completed":
    case "task:delegating":
    case "criterion:judged":
    case "message:queued":
    case "message:delivered":
    case "message:acknowledged":
    case "message:resent":
    case "message:expired":
    case "message:acted":
    case "message:rejected":
    case "task:rejected":
    case "task:unblocked":
    case "plan:extended":
    case "breaker:open":
    case "blocker:raised":
    case "blocker:resolved":
    case "gate:opened":
    case "gate:closed":
    case "gate:refused":
    case "gate:overridden":
      return applyToTeam(run, event);
    default:
      return countFailures(applyToSession(run, event), event);
  }
}

const FORKED = sentence("The run is a fork, which has no approval of its own.");
const IMPORTED = sentence("The run was imported, so its approval proves nothing here.");

const fixNote = (reasons: readonly string[]): string =>
  `The result is not good enough:\n${reasons.map((reason) => `- ${reason}`).join("\n")}\n\nFix the causes in this folder without weakening any check, then verify the result again.`;

const noteOf = (decisions: Run["decisions"]): string | null =>
  decisions.length === 0
    ? null
    : `The user decided:\n${decisions.map(({ question, answer }) => `- ${question}\n  ${answer}`).join("\n")}`;

export const hookKey = (hook: string, cause: number): string => `${hook} ${cause}`;

/**
 * Sets `resolution` of the open conflicts: by the user's decisions, with which the main session has merged, or by the
 * resolutions that the answer names for all files of a conflict. Other conflicts get `otherwise`.
 */
export function settleConflicts(
  { conflicts, decisions }: Run,
  answer: AggregationAnswer | null,
  otherwise: string | null = null,
): Run["conflicts"] {
  if (conflicts.every(({ resolution }) => resolution !== null)) return conflicts;
  const decided = decisions.map(({ question, answer }) => `${question}: ${answer}`).join("; ") || null;
  const named = (answer?.conflicts ?? []).filter(({ resolution }) => resolution !== undefined && resolution !== "");
  const byAgent = (files: readonly string[]): string | null => {
    const about = named.filter((each) => each.files?.some((file) => files.includes(file)));
    const isComplete = files.every((file) => about.some((each) => each.files!.includes(file)));
    return isComplete ? about.map(({ resolution }) => resolution).join("; ") || null : null;
  };
  return conflicts.map((conflict) => ({
    ...conflict,
    resolution: conflict.resolution ?? decided ?? byAgent(conflict.files) ?? otherwise,
  }));
}

/** If the run is paused, changes the status in `pausedFrom` instead of the current one. */
function withStatus(run: Run, status: RunStatus, phase: Phase | null): Run {
  if (run.status !== "paused" || !run.pausedFrom) return { ...run, status, currentPhase: phase };
  return { ...run, currentPhase: phase, pausedFrom: { ...run.pausedFrom, status, phase } };
}

/** `idleSince` stops the clock of `budget.minutes` while the run waits for the user. */
const beIdle = (run: Run, at: number): Run => (run.idleSince === null ? { ...run, idleSince: at } : run);

const beBusy = (run: Run, at: number): Run =>
  run.idleSince === null ? run : { ...run, idleSince: null, idleMs: run.idleMs + at - run.idleSince };

function resume(run: Run, status: RunStatus, at: number): Run {
  const pausedMs = run.pausedFrom === null ? 0 : at - run.pausedFrom.at;
  const main = run.main && resumeSession(run.main, at);
  const phaseSince = (run.phaseSince ?? at) + pausedMs;
  // After a resume `mainLosses` count from zero again.
  const resumed: Run = { ...run, status, pausedFrom: null, main, phaseSince, mainLosses: 0 };
  // A run in `confirming` still waits for the user.
  return status === "confirming" ? resumed : beBusy(resumed, at);
}

/**
 * Shifts all deadlines by a clock jump. Paused and waiting sessions need no shift: the end of their wait subtracts the
 * whole interval, jump included, from `waitedMs`.
 */
function shiftClocks(run: Run, byMs: number, at: number): Run {
  const asking = new Set(valuesOf(run.inbox).map(({ sessionId }) => sessionId));
  const shift = (session: SessionState): SessionState => {
    const waits = session.pausedAt !== null || session.refusedSince !== null || asking.has(session.sessionId);
    const still = session.state !== "running" || waits;
    return still ? session : { ...session, waitedMs: session.waitedMs + byMs };
  };
  const later = (at: number | null): number | null => (at === null ? null : at + byMs);
  const workers = workersOf(run)
    .filter(({ session, notBefore }) => session.state !== "over" || notBefore !== null)
    .reduce((all, worker) => {
      const shifted = { ...worker, session: shift(worker.session), notBefore: later(worker.notBefore) };
      return withEntry(all, worker.taskId, shifted);
    }, run.workers);
  const inbox = valuesOf(run.inbox)
    // An item of kind `limit` keeps its `expiresAt`: it follows the provider's clock, which did not jump.
    .filter(({ expiresAt, kind }) => expiresAt !== undefined && kind !== "limit")
    .reduce((all, item): Run["inbox"] => {
      return withEntry<InboxItem>(all, item.id, { ...item, expiresAt: item.expiresAt! + byMs });
    }, run.inbox);
  return {
    ...run,
    workers,
    inbox,
    main: run.main && shift(run.main),
    phaseSince: run.pausedFrom || run.heldSince !== undefined ? run.phaseSince : later(run.phaseSince),
    lastSpawnAt: later(run.lastSpawnAt),
    refusals: Object.fromEntries(
      Object.entries(run.refusals).map(([name, refusal]) => {
        // A wait that had ended before the jump stays ended, because a turn may already probe the provider.
        const shiftOpen = (moment: number): number => (moment > at - byMs ? moment + byMs : moment);
        return [name, { ...refusal, until: shiftOpen(refusal.until), settledUntil: shiftOpen(refusal.settledUntil) }];
      }),
    ),
    idleMs: run.idleSince === null && run.heldSince === undefined ? run.idleMs + byMs : run.idleMs,
  };
}

const PHASES_OF_MAIN: ReadonlySet<Phase> = new Set(["analysis", "taskPlanning", "aggregation", "verification"]);

/** A change of status within the same phase keeps `owed`. */
function enterPhase(run: Run, phase: Phase, status: RunStatus, at: number): Run {
  const entered = withStatus(run, status, phase);
  if (phase === run.currentPhase) return entered;
  return { ...entered, phaseSince: at, owed: PHASES_OF_MAIN.has(phase) ? firstAsking(phase) : null };
}

function end(run: Run, status: RunStatus, outcome: Verdict, at: number): Run {
  if (isRunOver(run.status)) return run;
  const main = run.main && { ...run.main, state: "over" as const, turn: null };
  return { ...beBusy(run, at), status, outcome, main, owed: null, pausedFrom: null, completedAt: at };
}

/** Sets `waitsFor` of a session that ended its turn with a question, and adds the answer to its next prompt. */
function noteWait(run: Run, item: InboxItem, answer: string | null, waited: number): Run {
  const { kind, id, taskId, sessionId, question } = item;
  if (kind === "host" && answer !== null && workerOf(run, taskId!)?.sessionId === sessionId)
    return withWorker(run, taskId!, { keepsWaiting: true });
  if (kind !== "question" && kind !== "blocker") return run;
  const open = Object.hasOwn(run.inbox, id);
  // The next turn of a blocked role contains the resolution as a message, so it needs no `answerNote`.
  const note = kind === "blocker" ? {} : { note: answerNote(question, answer ?? "") };
  const answered = answer === null ? {} : { ...note, problems: [] };
  const noted = (owed: Owed | null): Owed | null => owed && { ...owed, waitsFor: open ? id : null, ...answered };
  const later = (session: SessionState): SessionState => ({ ...session, waitedMs: session.waitedMs + waited });
  if (taskId === null) {
    if (run.main?.sessionId !== sessionId) return run;
    return { ...run, owed: noted(run.owed), main: later(run.main) };
  }
  const worker = workerOf(run, taskId);
  if (worker?.sessionId !== sessionId) return run;
  return withWorker(run, taskId, { owed: noted(worker.owed), session: later(worker.session) });
}

/** Records the question or its `answer` in the session that asked. The `waited` time extends the session's deadline. */
function noteAsk(previous: Run, item: InboxItem, answer: string | null, waited: number): Run {
  const { kind, taskId, sessionId, askId, question } = item;
  if (askId === null) return noteWait(previous, item, answer, waited);
  const permission = kind === "permission" ? { permission: item.evidence } : {};
  const given: GivenAnswer = { text: answer ?? "", sessionId: sessionId ?? "", askId, question, ...permission };
  const answers =
    answer === null ? previous.answers : withEntry<GivenAnswer>(previous.answers, asking(taskId, question), given);
  const run = { ...previous, answers };
  const noted = (session: SessionState): SessionState => ({
    ...session,
    asks: { ...session.asks, [askId]: answer },
    waitedMs: session.waitedMs + waited,
  });
  if (taskId === null) return run.main?.sessionId === sessionId ? { ...run, main: noted(run.main) } : run;
  const worker = workerOf(run, taskId);
  return worker?.sessionId === sessionId ? withWorker(run, taskId, { session: noted(worker.session) }) : run;
}
