// The fold: what a run is after one more event. Server, tests and dashboard use this same function, so a log means the
// same everywhere.
//
// Invariants
// 1. It never refuses and never looks at a clock: what stands in the log has happened.
// 2. It does not change its argument; what an event does not touch is shared between the two states.
// 3. Events that only tell change what is shown (progress, tool counts), never what `decide` or `schedule` read.
import { applyToSession } from "./apply-session.ts";
import { withWorker } from "./with-worker.ts";
import type { Placed, RunEvent } from "../schema/event.ts";
import { NO_USAGE, type Verdict } from "../schema/outcome.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase, type RunStatus } from "../schema/status.ts";
import { NO_TOOLS, type Owed, type SessionState } from "../schema/worker.ts";

export function apply(run: Run | null, event: RunEvent & Placed): Run {
  if (event.type === "orchestrator:created") return born(event.data, event);
  if (run === null) throw new Error(`the log of a run begins with ${event.type} instead of orchestrator:created`);
  const next = change(run, event);
  return { ...next, runSeq: event.runSeq, updatedAt: event.timestamp };
}

/** Folds a log, or goes on folding from a state. */
export function fold(run: Run | null, events: Iterable<RunEvent & Placed>): Run | null {
  for (const event of events) run = apply(run, event);
  return run;
}

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
    currentPhase: null,
    mainSessionId: null,
    main: null,
    owed: null,
    mainLosses: 0,
    analysis: null,
    tasks: [],
    parallelGroups: [],
    planErrors: [],
    workers: {},
    blocked: {},
    base: null,
    head: null,
    conflicts: [],
    aggregation: null,
    verification: null,
    inbox: {},
    answers: {},
    usage: NO_USAGE,
    toolStats: NO_TOOLS,
    errors: [],
    released: false,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: null,
    completedAt: null,
    runSeq,
  };
}

function change(run: Run, event: RunEvent & Placed): Run {
  switch (event.type) {
    case "orchestrator:started":
      return {
        ...run,
        status: "analyzing",
        currentPhase: event.data.phase,
        mainSessionId: event.data.mainSessionId,
        owed: firstAsking(event.data.phase),
        base: event.data.base,
        head: event.data.base,
        startedAt: event.timestamp,
      };
    case "orchestrator:phaseChanged":
      return enterPhase(run, event.data.currentPhase, event.data.status);
    case "orchestrator:analysisComplete":
      return { ...run, analysis: event.data.analysis, owed: null };
    case "orchestrator:tasksReady":
      return {
        ...run,
        status: "confirming",
        owed: null,
        tasks: event.data.tasks,
        parallelGroups: event.data.parallelGroups,
        planErrors: event.data.errors,
      };
    case "orchestrator:created":
    case "orchestrator:confirmed":
      return run;
    case "orchestrator:aggregated":
      return { ...run, aggregation: event.data.aggregation, head: event.data.head, owed: null };
    case "orchestrator:verified":
      return { ...run, verification: event.data.verification, head: event.data.head, owed: null };
    case "orchestrator:reopened": {
      const { phase, status } = event.data;
      return {
        ...run,
        status,
        currentPhase: phase,
        owed: firstAsking(phase),
        outcome: null,
        completedAt: null,
        released: false,
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
      return { ...run, blocked: { ...run.blocked, [event.data.taskId]: event.data.because } };
    case "workspace:merged": {
      const merged = withWorker(run, event.data.taskId, { merged: "merged" });
      return { ...merged, head: event.data.head };
    }
    case "workspace:conflict": {
      const conflicted = withWorker(run, event.data.taskId, { merged: "conflict" });
      return { ...conflicted, conflicts: [...run.conflicts, event.data.conflict] };
    }
    case "workspace:released":
      return { ...run, released: true };
    case "inbox:added": {
      const { item } = event.data;
      return noteAsk({ ...run, inbox: { ...run.inbox, [item.id]: item } }, item, null, 0);
    }
    case "inbox:answered": {
      const { [event.data.itemId]: item, ...inbox } = run.inbox;
      if (!item) return run;
      return noteAsk(
        { ...run, inbox },
        item,
        event.data.withdrawn ? null : event.data.text,
        event.timestamp - item.createdAt,
      );
    }
    case "protocol:ignored":
      return run;
    default:
      return applyToSession(run, event);
  }
}

export const firstAsking = (phase: Phase): Owed => ({ phase, try: 1, problems: [] });

const PHASES_OF_MAIN: ReadonlySet<Phase> = new Set(["analysis", "taskPlanning", "aggregation", "verification"]);

/** A change of status within a phase leaves what is owed as it is. */
function enterPhase(run: Run, phase: Phase, status: RunStatus): Run {
  if (phase === run.currentPhase) return { ...run, status };
  return { ...run, status, currentPhase: phase, owed: PHASES_OF_MAIN.has(phase) ? firstAsking(phase) : null };
}

function end(run: Run, status: RunStatus, outcome: Verdict, at: number): Run {
  if (isRunOver(run.status)) return run;
  const main = run.main && { ...run.main, state: "over" as const, turn: null };
  return { ...run, status, outcome, main, owed: null, completedAt: at };
}

/** Who asks what. */
export const asking = (taskId: string | null, question: string): string => `${taskId ?? "main"}: ${question}`;

/** The session that asked remembers its question; the time it waited for the answer does not count against it. */
function noteAsk(before: Run, item: InboxItem, answer: string | null, waited: number): Run {
  const { taskId, sessionId, askId, question } = item;
  if (askId === null) return before;
  const answers = answer === null ? before.answers : { ...before.answers, [asking(taskId, question)]: answer };
  const run = { ...before, answers };
  const noted = (session: SessionState): SessionState => ({
    ...session,
    asks: { ...session.asks, [askId]: answer },
    waitedMs: session.waitedMs + waited,
  });
  if (taskId === null) return run.main?.sessionId === sessionId ? { ...run, main: noted(run.main) } : run;
  const worker = run.workers[taskId];
  return worker?.sessionId === sessionId ? withWorker(run, taskId, { session: noted(worker.session) }) : run;
}
