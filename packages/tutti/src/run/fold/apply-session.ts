// `applyToSession` is the part of the fold for the main session and the workers.
import { answerNote, asking } from "./asking.ts";
import { firstAsking } from "./first-asking.ts";
import { taskOf, workerOf } from "../lookup.ts";
import { MAX_TRIES } from "../rules/losses.ts";
import { markTold } from "../rules/message.ts";
import { outlineOf } from "../plan/outline.ts";
import { providerOf } from "../provider/provider-name.ts";
import { sizeOf, valuesOf, withEntry, withoutEntries } from "./shared-record.ts";
import { withSession, withWorker } from "./with-worker.ts";
import type { Ending } from "../../schema/ending.ts";
import type { EventData, LogPosition, RunEvent } from "../../schema/event.ts";
import { addUsage, NO_USAGE } from "../../schema/outcome.ts";
import type { GivenAnswer, Run } from "../../schema/run.ts";
import { addTools, NO_TOOLS, type Owed, type SessionState, type Worker } from "../../schema/worker.ts";

type SessionEvent = Extract<
  RunEvent,
  { type: `main:${string}` | `worker:${string}` | `turn:${string}` | "orchestrator:progress" }
>;

export function applyToSession(run: Run, event: SessionEvent & LogPosition): Run {
  switch (event.type) {
    case "main:spawning": {
      const main = newSession(run, event.data, "main", event.data.start);
      return { ...run, mainSessionId: event.data.sessionId, main, sessions: run.sessions + 1 };
    }
    case "main:relieved":
      return withMain(run, event.data.sessionId, { state: "over", turn: null });
    case "main:spawned":
      return withMain(run, event.data.sessionId, { state: "running" });
    case "main:lost": {
      const lost = withMain(run, event.data.sessionId, { state: "over", turn: null });
      // The next session gets a new workspace without the unfinished work of this one, so it is not `interrupted`.
      // If the session used up its tries, the next one gets as many, with the same problems.
      const tries = run.owed && run.owed.try > MAX_TRIES ? { try: 1 } : {};
      const owed = run.owed && { ...withoutWait(run.owed), interrupted: false, waitsFor: null, ...tries };
      const restarted = { ...lost, owed };
      return event.data.counted ? { ...restarted, mainLosses: run.mainLosses + 1 } : restarted;
    }
    case "worker:spawning":
      return {
        ...run,
        workers: withEntry(run.workers, event.data.taskId, newWorker(run, event.data)),
        sessions: run.sessions + 1,
        lastSpawnAt: event.timestamp,
        ...(run.emerging ? { emerging: run.emerging.filter(({ tasks }) => !tasks.includes(event.data.taskId)) } : {}),
      };
    case "worker:spawned":
      return withSession(run, event.data.taskId, { state: "running", start: event.data.start }, { status: "running" });
    case "worker:started":
      return withWorker(run, event.data.taskId, { startedAt: event.timestamp, lastActivityAt: event.timestamp });
    case "worker:completed": {
      const { reused, report } = event.data;
      // `worker:spawning` counted a session, but a `reused` result starts none.
      const counted = reused ? { ...run, sessions: run.sessions - 1 } : run;
      return over(counted, event.data.taskId, event.timestamp, {
        status: "completed",
        reused: reused ? { run: reused.run, taskId: reused.taskId, sessionId: reused.sessionId } : null,
        progress: 100,
        output: event.data.output,
        ...(report.summary === undefined ? {} : { summary: report.summary }),
        ...(report.warnings === undefined ? {} : { reportedWarnings: report.warnings }),
        outputFiles: event.data.outputFiles,
        commit: event.data.commit,
        partial: event.data.partial,
        ...(event.data.warnings ? { warnings: event.data.warnings } : {}),
        error: event.data.partial ? (report.error ?? null) : null,
      });
    }
    case "worker:failed":
      return over(run, event.data.taskId, event.timestamp, {
        status: "failed",
        error: event.data.error,
        errorCode: event.data.code,
      });
    case "worker:timeout":
      return over(run, event.data.taskId, event.timestamp, {
        status: "timeout",
        error: event.data.error,
        errorCode: event.data.code,
      });
    case "worker:cancelled":
      return over(run, event.data.taskId, event.timestamp, { status: "cancelled", error: "cancelled" });
    case "worker:paused":
      return withSession(
        run,
        event.data.taskId,
        { pausedAt: event.timestamp },
        { status: "paused", pausedBy: event.data.by },
      );
    case "worker:resumed": {
      const worker = workerOf(run, event.data.taskId);
      if (!worker) return run;
      const session = resumeSession(worker.session, event.timestamp);
      const status = worker.status === "pending" ? ("pending" as const) : ("running" as const);
      return withWorker(run, event.data.taskId, { status, pausedBy: null, session });
    }
    case "worker:retrying":
      return unblock(
        withWorker(run, event.data.taskId, {
          ...AGAIN,
          currentAction: "Retrying...",
          losses: 0,
          retryCount: event.data.retryCount,
          notBefore: event.data.notBefore,
          ...(event.data.automatic ? {} : { anew: true }),
        }),
        event.data.taskId,
      );
    case "worker:redelegated": {
      const { taskId } = event.data;
      const ended = { state: "over" as const, turn: null, pausedAt: null };
      const again = { ...AGAIN, losses: 0, owed: null, pausedBy: null, notBefore: null, currentAction: null };
      return unblock(withSession(run, taskId, ended, { ...again, ...withoutDuty(workerOf(run, taskId)) }), taskId);
    }
    case "worker:lost": {
      const lost = workerOf(run, event.data.taskId);
      const losses = (lost?.losses ?? 0) + (event.data.counted ? 1 : 0);
      // With `pausedBy: "person"` the task waits for the user to resume it, even if its session is lost.
      const pausedBy = lost?.pausedBy === "person" ? ("person" as const) : null;
      return withSession(
        run,
        event.data.taskId,
        { state: "over", turn: null, pausedAt: null },
        { status: "pending", losses, owed: null, pausedBy, ...withoutDuty(lost) },
      );
    }
    case "turn:started": {
      const { turn: number, phase, try: tries } = event.data;
      const turn = { number, phase, try: tries, startedAt: event.timestamp };
      const counted = { ...run, turns: run.turns + 1, messages: markTold(run, event.data.taskId) };
      if (event.data.taskId === null) {
        return withMain(counted, event.data.sessionId, { turn, turns: number, waitedMs: 0, refusedSince: null });
      }
      const { waitedMs = 0, refusedSince = null } = workerOf(run, event.data.taskId)?.session ?? {};
      const refusedMs = refusedSince === null ? 0 : event.timestamp - refusedSince;
      const session = { turn, turns: number, waitedMs: waitedMs + refusedMs, refusedSince: null };
      return withSession(counted, event.data.taskId, session);
    }
    case "turn:ended":
      return noteCutOff(endTurn(run, event.data, event.timestamp), event.data, event.timestamp);
    case "turn:abandoned": {
      const { taskId, usage, toolStats } = event.data;
      const worker = taskId === null ? undefined : workerOf(run, taskId);
      const counted = {
        ...run,
        usage: addUsage(run.usage, usage),
        toolStats: addTools(run.toolStats, toolStats),
      };
      return worker ? withWorker(counted, worker.taskId, { usage: addUsage(worker.usage, usage) }) : counted;
    }
    case "worker:progress": {
      const { progress, currentAction, outputPreview } = event.data;
      const worker = workerOf(run, event.data.taskId);
      // The last progress event can follow the end of the worker. The worker's progress is final by then.
      if (!worker || worker.completedAt !== null) return run;
      const toolStats = addTools(worker.endedTools, event.data.toolStats);
      const shown = { progress, currentAction, toolStats, outputPreview, lastActivityAt: event.timestamp };
      return withWorker(run, event.data.taskId, shown);
    }
    case "orchestrator:progress":
    case "worker:stopped":
      return run;
    default:
      // A newer version may have written event types that this one does not know. The fold skips them.
      event satisfies never;
      return run;
  }
}

interface Spawned {
  sessionId: string;
  attempt: number;
  agent?: string | undefined;
  role?: string | undefined;
  model?: string | undefined;
}

function newSession(run: Run, spawned: Spawned, usualRole: string, start: string | null): SessionState {
  const { sessionId, attempt, agent = run.agent, role = usualRole, model } = spawned;
  const fresh = {
    state: "spawning" as const,
    turns: 0,
    turn: null,
    waitedMs: 0,
    pausedAt: null,
    refusedSince: null,
    asks: {},
  };
  return { sessionId, attempt, agent, role, ...(model === undefined ? {} : { model }), start, ...fresh };
}

/** The pause is added to `waitedMs`, which extends the deadline. */
export function resumeSession(session: SessionState, at: number): SessionState {
  if (session.pausedAt === null) return session;
  // If the session also waits for its provider (`refusedSince`), `turn:started` adds the whole wait.
  if (session.refusedSince !== null) return { ...session, pausedAt: null };
  return { ...session, pausedAt: null, waitedMs: session.waitedMs + at - session.pausedAt };
}

function unblock(run: Run, taskId: string): Run {
  if (sizeOf(run.blocked) === 0) return run;
  const { places, dependents } = outlineOf(run);
  // Iterating over a `Set` includes the members added on the way.
  const freed = new Set([places.get(taskId)!]);
  for (const place of freed) for (const dependent of dependents[place]!) freed.add(dependent);
  const ids = [...freed].map((place) => run.tasks[place]!.id);
  return { ...run, blocked: withoutEntries(run.blocked, ids) };
}

function newWorker(run: Run, spawned: Spawned & { taskId: string; start?: string | undefined }): Worker {
  const { sessionId, taskId, attempt } = spawned;
  const previous = workerOf(run, taskId);
  return {
    sessionId,
    orchestratorId: run.id,
    taskId,
    task: taskOf(run, taskId)!,
    status: "spawning",
    attempt,
    session: newSession(run, spawned, "worker", spawned.start ?? null),
    owed: firstAsking("workerExecution"),
    progress: 0,
    currentAction: null,
    toolStats: NO_TOOLS,
    endedTools: NO_TOOLS,
    usage: previous?.usage ?? NO_USAGE,
    output: null,
    outputFiles: [],
    outputPreview: null,
    error: null,
    errorCode: null,
    partial: false,
    retryCount: previous?.retryCount ?? 0,
    notBefore: null,
    pausedBy: null,
    losses: previous?.losses ?? 0,
    // An earlier result cannot take the user's messages to this task into account, so `anew` forbids reusing one.
    anew: (previous?.anew ?? false) || run.messages.some((message) => message.taskId === taskId && !message.isReminder),
    reused: null,
    commit: null,
    merged: "not yet",
    ...(previous?.rework ? { rework: previous.rework } : {}),
    startedAt: null,
    completedAt: null,
    lastActivityAt: null,
  };
}

function withMain(run: Run, sessionId: string, patch: Partial<SessionState>): Run {
  return run.main?.sessionId === sessionId ? { ...run, main: { ...run.main, ...patch } } : run;
}

const AGAIN = {
  status: "pending" as const,
  progress: 0,
  error: null,
  errorCode: null,
  output: null,
  outputFiles: [],
  completedAt: null,
  startedAt: null,
};

/**
 * An attempt that ends no longer waits for the lead of its team (`awaits`), or for tasks that it delegated
 * (`delegating`).
 */
const withoutDuty = (worker: Worker | undefined): Pick<Worker, "awaits" | "duty" | "delegating"> => ({
  ...(worker?.awaits ? { awaits: null } : {}),
  ...(worker?.duty ? { duty: null } : {}),
  ...(worker?.delegating ? { delegating: null } : {}),
});

function over(run: Run, taskId: string, at: number, patch: Partial<Worker>): Run {
  const ended = { ...patch, owed: null, completedAt: at, pausedBy: null, ...withoutDuty(workerOf(run, taskId)) };
  return withSession(run, taskId, { state: "over", turn: null, pausedAt: null }, ended);
}

/** `waitedSince` is about the turn that follows the end of sub-sessions. */
function withoutWait(owed: Owed): Owed {
  const { waitedSince: _, ...rest } = owed;
  return rest;
}

function endTurn(run: Run, data: EventData<"turn:ended">, at: number): Run {
  const refusedSince = data.again ? at : null;
  const again = (before: Owed | null): Owed | null => {
    if (!before) return null;
    const owed = withoutWait(before);
    if (data.waits) return { ...owed, problems: [], waitedSince: at };
    if (data.ending.kind === "interrupted" || data.again) return { ...owed, interrupted: true };
    return data.problems.length > 0 ? { ...owed, try: owed.try + 1, problems: data.problems } : owed;
  };
  const usage = addUsage(run.usage, data.usage);
  const toolStats = addTools(run.toolStats, data.toolStats);
  if (data.taskId === null) {
    const { context } = data;
    const ended = { turn: null, refusedSince, ...(context ? { context } : {}) };
    const main = withMain(clearRefusal(run, run.main, data.ending), data.sessionId, ended);
    const mainLosses = data.problems.length === 0 && !data.again ? 0 : run.mainLosses;
    return { ...main, owed: again(run.owed), mainLosses, usage, toolStats };
  }
  const worker = workerOf(run, data.taskId);
  if (!worker) return run;
  const endedTools = addTools(worker.endedTools, data.toolStats);
  const ended = withSession(
    clearRefusal(run, worker.session, data.ending),
    data.taskId,
    { turn: null, refusedSince },
    {
      owed: again(worker.owed),
      toolStats: endedTools,
      endedTools,
      usage: addUsage(worker.usage, data.usage),
    },
  );
  return { ...ended, usage, toolStats };
}

/** Adds the answers that the agent has not received (`unheard`) to its next prompt, and `asleepMs` to its deadline. */
function noteCutOff(run: Run, data: EventData<"turn:ended">, at: number): Run {
  const { cutOff, sessionId, taskId } = data;
  if (!cutOff) return run;
  const unheard = valuesOf(run.answers).filter(
    (answer) => answer.sessionId === sessionId && cutOff.unheard.includes(answer.askId),
  );
  const answers = unheard.reduce(
    (all, answer) => withEntry<GivenAnswer>(all, asking(taskId, answer.question), { ...answer, unheard: true }),
    run.answers,
  );
  const notes = unheard.map(({ question, text }) => answerNote(question, text));
  const noted = (owed: Owed | null): Owed | null => {
    if (!owed || notes.length === 0) return owed;
    return { ...owed, note: [...(owed.note === null ? [] : [owed.note]), ...notes].join("\n\n") };
  };
  if (taskId === null) return { ...run, answers, owed: noted(run.owed) };
  const worker = workerOf(run, taskId);
  if (!worker) return run;
  // Never more than a whole `workerTimeout` from now on: a wait for the user during the suspension counts already.
  const waitedMs = Math.min(worker.session.waitedMs + cutOff.asleepMs, at - (worker.startedAt ?? at));
  return withSession({ ...run, answers }, taskId, { waitedMs }, { owed: noted(worker.owed) });
}

/** An `Ending` of kind `ended` shows that the provider answers again. */
function clearRefusal(run: Run, session: SessionState | null, { kind }: Ending): Run {
  const provider = session && providerOf(session.agent, run.providers);
  if (provider === null || kind !== "ended" || !Object.hasOwn(run.refusals, provider)) return run;
  const { [provider]: _, ...refusals } = run.refusals;
  return { ...run, refusals };
}
