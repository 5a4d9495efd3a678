// The fold: what a run is after one more event. Server, tests and dashboard use this same function, so a log means the
// same everywhere.
//
// Invariants
// 1. It never refuses and never looks at a clock: what stands in the log has happened.
// 2. It does not change its argument; what an event does not touch is shared between the two states.
// 3. Events that only tell change what is shown (progress, tool counts), never what `decide` or `schedule` read.
import { addTools, applyToSession, goOn } from "./apply-session.ts";
import { workerOf, workersOf } from "./lookup.ts";
import { carryOver } from "./open-work.ts";
import { soundOrder } from "./plan.ts";
import { noteHold, noteRefused } from "./provider-waits.ts";
import { emptyRecord, entryOf, valuesOf, withEntry, withoutEntries } from "./shared-record.ts";
import { withWorker } from "./with-worker.ts";
import { isServerEvent, type Placed, type RunEvent } from "../schema/event.ts";
import { NO_USAGE, type Verdict } from "../schema/outcome.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase, type RunStatus } from "../schema/status.ts";
import { NO_TOOLS, type Owed, type SessionState } from "../schema/worker.ts";

/** Raised whenever the same events fold to a state of another form: states that were stored before are then folded anew. */
export const FOLD_VERSION = 4;

export function apply(run: Run | null, event: RunEvent & Placed): Run {
  if (event.type === "orchestrator:created") return born(event.data, event);
  if (run === null) throw new Error(`the log of a run begins with ${event.type} instead of orchestrator:created`);
  const changed = { ...change(run, event), runSeq: event.runSeq, updatedAt: event.timestamp };
  const next = noteRefused(run, changed, event);
  carryOver(run, next);
  const noted = noteHold(run, next, event.timestamp);
  if (noted !== next) carryOver(next, noted);
  return noted;
}

/** Folds a log, or goes on folding from a state. */
export function fold(run: Run | null, events: Iterable<RunEvent & Placed>): Run | null {
  for (const event of events) run = apply(run, event);
  return run;
}

type HookState = Run["hooks"][string];
type Created = Extract<RunEvent, { type: "orchestrator:created" }>["data"];

function born(data: Created, { runSeq, timestamp }: Placed): Run {
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
    released: false,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: null,
    completedAt: null,
    runSeq,
  };
}

function change(run: Run, event: RunEvent & Placed): Run {
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
    case "orchestrator:phaseChanged":
      return enterPhase(run, event.data.currentPhase, event.data.status, event.timestamp);
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
        // A plan that nobody is to carry out is left out as a whole.
        skipped: run.template.phases.workerExecution.enabled
          ? {}
          : Object.fromEntries(event.data.tasks.map(({ id }) => [id, { satisfied: true }])),
      };
    case "message:sent": {
      const { taskId, text } = event.data;
      return { ...run, messages: [...run.messages, { taskId, text, told: false }] };
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
      return { ...run, forkedFrom: fresh ? null : { run: from, at }, idempotency: null };
    }
    case "orchestrator:imported":
      // What it was forked from is another engine's; a run of that name here is not meant.
      return { ...run, forkedFrom: null, idempotency: null };
    case "orchestrator:confirmed": {
      const { tasks = run.tasks, parallelGroups = run.parallelGroups, skipped, budget = run.budget } = event.data;
      const order = soundOrder(tasks, run.executionOrder);
      const confirmed = { tasks, parallelGroups, skipped, budget, executionOrder: order, planErrors: [] };
      return { ...beBusy(run, event.timestamp), ...confirmed };
    }
    case "orchestrator:changesRequested": {
      const note = `The person has seen your plan and wants it changed: ${event.data.text}`;
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
      const before = Object.hasOwn(run.refusals, provider) ? run.refusals[provider]! : null;
      const settledUntil = trying ? (before?.settledUntil ?? 0) : until;
      return { ...run, refusals: { ...run.refusals, [provider]: { cause, detail, until, settledUntil, count } } };
    }
    case "orchestrator:decided": {
      const decisions = [...run.decisions, ...event.data.decisions];
      const note = `The person has decided:\n${decisions.map(({ question, answer }) => `- ${question}\n  ${answer}`).join("\n")}`;
      return { ...run, decisions, owed: { ...firstAsking("aggregation"), note } };
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
      const { aggregation, head } = event.data;
      const conflicts = aggregation.status === "success" ? settleConflicts(run) : run.conflicts;
      return { ...run, aggregation, head, owed: null, conflicts };
    }
    case "orchestrator:verified":
      return { ...run, verification: event.data.verification, head: event.data.head, owed: null };
    case "orchestrator:reopened": {
      const { phase, status } = event.data;
      return {
        ...run,
        status,
        currentPhase: phase,
        phaseSince: event.timestamp,
        owed: PHASES_OF_MAIN.has(phase) ? firstAsking(phase) : null,
        outcome: null,
        completedAt: null,
        released: false,
        // What was merged and checked before the reopened phase will be merged and checked again.
        aggregation: phase === "verification" ? run.aggregation : null,
        verification: null,
        decisions: [],
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
    case "workspace:conflict": {
      const conflicted = withWorker(run, event.data.taskId, { merged: "conflict" });
      return { ...conflicted, conflicts: [...run.conflicts, event.data.conflict] };
    }
    case "workspace:released":
      return { ...run, released: true };
    case "inbox:added": {
      const { item } = event.data;
      return noteAsk({ ...run, inbox: withEntry(run.inbox, item.id, item) }, item, null, 0);
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
      return run;
    default:
      return applyToSession(run, event);
  }
}

export const firstAsking = (phase: Phase): Owed => ({
  phase,
  try: 1,
  problems: [],
  note: null,
  interrupted: false,
  waitsFor: null,
});

export const hookKey = (hook: string, cause: number): string => `${hook} ${cause}`;

/** A conflict on which the person has decided is settled once the main session has merged with the decision. */
export function settleConflicts(run: Run): Run["conflicts"] {
  if (run.decisions.length === 0) return run.conflicts;
  const resolution = run.decisions.map(({ question, answer }) => `${question}: ${answer}`).join("; ");
  return run.conflicts.map((conflict) => (conflict.resolution === null ? { ...conflict, resolution } : conflict));
}

/** While a run is paused, what it does in the meantime changes where it will go on. */
function withStatus(run: Run, status: RunStatus, phase: Phase | null): Run {
  if (run.status !== "paused" || !run.pausedFrom) return { ...run, status, currentPhase: phase };
  return { ...run, currentPhase: phase, pausedFrom: { ...run.pausedFrom, status, phase } };
}

/** From now on time does not count against the run: it waits for a person. */
const beIdle = (run: Run, at: number): Run => (run.idleSince === null ? { ...run, idleSince: at } : run);

const beBusy = (run: Run, at: number): Run =>
  run.idleSince === null ? run : { ...run, idleSince: null, idleMs: run.idleMs + at - run.idleSince };

function resume(run: Run, status: RunStatus, at: number): Run {
  const away = run.pausedFrom === null ? 0 : at - run.pausedFrom.at;
  const main = run.main && goOn(run.main, at);
  const resumed: Run = { ...run, status, pausedFrom: null, main, phaseSince: (run.phaseSince ?? at) + away };
  // A plan that waits to be confirmed still waits.
  return status === "confirming" ? resumed : beBusy(resumed, at);
}

/**
 * Time that passed without anybody being able to use it. What stands still anyway, because it is paused or waits for a
 * person, is measured by the same clock at both ends, and needs no shift.
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
    // The moment at which a provider's limit ends is that of its own clock.
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
        // A wait that was over before stays over: somebody may be asked since.
        const later = (moment: number): number => (moment > at - byMs ? moment + byMs : moment);
        return [name, { ...refusal, until: later(refusal.until), settledUntil: later(refusal.settledUntil) }];
      }),
    ),
    idleMs: run.idleSince === null && run.heldSince === undefined ? run.idleMs + byMs : run.idleMs,
  };
}

const PHASES_OF_MAIN: ReadonlySet<Phase> = new Set(["analysis", "taskPlanning", "aggregation", "verification"]);

/** A change of status within a phase leaves what is owed as it is. */
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

/** Who asks what. */
export const asking = (taskId: string | null, question: string): string => `${taskId ?? "main"}: ${question}`;

/** A session that ended its turn with a question is asked again when there is an answer, with that before it. */
function noteWait(run: Run, item: InboxItem, answer: string | null, waited: number): Run {
  const { kind, id, taskId, sessionId, question } = item;
  if (kind !== "question") return run;
  const open = Object.hasOwn(run.inbox, id);
  const told = answer === null ? {} : { note: `You asked: ${question}\nThe answer is: ${answer}`, problems: [] };
  const noted = (owed: Owed | null): Owed | null => owed && { ...owed, waitsFor: open ? id : null, ...told };
  const later = (session: SessionState): SessionState => ({ ...session, waitedMs: session.waitedMs + waited });
  if (taskId === null) {
    if (run.main?.sessionId !== sessionId) return run;
    return { ...run, owed: noted(run.owed), main: later(run.main) };
  }
  const worker = workerOf(run, taskId);
  if (worker?.sessionId !== sessionId) return run;
  return withWorker(run, taskId, { owed: noted(worker.owed), session: later(worker.session) });
}

/** The session that asked remembers its question; the time it waited for the answer does not count against it. */
function noteAsk(before: Run, item: InboxItem, answer: string | null, waited: number): Run {
  const { taskId, sessionId, askId, question } = item;
  if (askId === null) return noteWait(before, item, answer, waited);
  const given = { text: answer ?? "", sessionId: sessionId ?? "" };
  const answers = answer === null ? before.answers : withEntry(before.answers, asking(taskId, question), given);
  const run = { ...before, answers };
  const noted = (session: SessionState): SessionState => ({
    ...session,
    asks: { ...session.asks, [askId]: answer },
    waitedMs: session.waitedMs + waited,
  });
  if (taskId === null) return run.main?.sessionId === sessionId ? { ...run, main: noted(run.main) } : run;
  const worker = workerOf(run, taskId);
  return worker?.sessionId === sessionId ? withWorker(run, taskId, { session: noted(worker.session) }) : run;
}
