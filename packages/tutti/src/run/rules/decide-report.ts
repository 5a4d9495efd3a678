import { hookKey } from "../apply.ts";
import { asking } from "../fold/asking.ts";
import { askForHost } from "../inbox/ask-for-host.ts";
import { NO_ANSWER } from "../inbox/ask-user.ts";
import type { Report } from "../command.ts";
import { decideMainAnswer } from "../answers/decide-main-answer.ts";
import { decideWorkerAnswer } from "../answers/decide-worker-answer.ts";
import { mainAgent, workerAgent } from "./assign-agent.ts";
import { askForMore, exhaustedBudget } from "./budget.ts";
import { collisionsOf, isRepairing, waitsForDecisions } from "./collisions.ts";
import { fail, mishap } from "../consequences.ts";
import { noteUsedNames } from "../outcome/used-names.ts";
import { noteEmerging } from "../emerging.ts";
import { addItem, answered, withdraw, withdrawQuestions } from "../inbox/inbox.ts";
import { pause } from "../lifecycle.ts";
import { taskOf, workerOf, workerOfSession } from "../lookup.ts";
import { MAX_LOSSES, MAX_TIMEOUTS } from "./losses.ts";
import { failMain, loseMain } from "./main-failure.ts";
import { discardOutdatedAnswer, steered } from "./message.ts";
import { noAmong } from "./permission.ts";
import { mayAsk, troubled } from "../provider/provider.ts";
import { NEEDS_USER } from "./retry.ts";
import { takeOver } from "./reuse.ts";
import { awaitsMerge, rejectMerge } from "../rework.ts";
import { deadlines, hasRoom, isReady } from "../schedule.ts";
import { entryOf, valuesOf } from "../fold/shared-record.ts";
import { PAUSABLE } from "../transitions.ts";
import { acknowledge } from "../team/acknowledge.ts";
import { blockerRaised } from "../team/blocker.ts";
import { deployableCommit, isDeployment, isHeldBack } from "../team/gate.ts";
import { assign } from "../team/team.ts";
import type { RunEvent } from "../../schema/event.ts";
import { mainSessionId, workerSessionId } from "../../schema/ids.ts";
import type { Usage } from "../../schema/outcome.ts";
import type { GivenAnswer, Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { isRunOver } from "../../schema/status.ts";
import { OUTSIDE } from "../../schema/team/roles.ts";
import type { SessionState, Worker } from "../../schema/worker.ts";

export function decideReport(run: Run, report: Report, at: number): RunEvent[] {
  if (report.type === "released")
    return isRunOver(run.status) && !run.released ? [{ type: "workspace:released", data: { id: run.id } }] : [];
  if (report.type === "record") return [report.event];
  if (report.type === "mishap") return [mishap(run, report.operation, report.error, report.code, at)];
  if (report.type === "refMoved") return [{ type: "branch:moved", data: { id: run.id, ...report.moved } }];
  // Without an aggregation, names are compared when the run has ended.
  if (report.type === "namesUsed") return noteUsedNames(run, report);
  if (report.type === "abandoned") {
    const { sessionId, taskId, usage, toolStats } = report;
    return [{ type: "turn:abandoned", data: { id: run.id, sessionId, taskId, usage, toolStats } }];
  }
  if (report.type === "subagent") return aboutSubagent(run, report);
  if (report.type === "hookStarted" || report.type === "hookEnded") return aboutHook(run, report);
  if (isRunOver(run.status)) return [];
  switch (report.type) {
    case "spawnMain":
      return spawnMain(run, at);
    case "spawn":
      return spawn(run, report.taskId, at);
    case "environment":
      return PAUSABLE.has(run.status) ? pause(run, "environment", report.error, report.output) : [];
    case "fault":
      return [fail(run, report.operation, report.error, report.code, at)];
    case "merged": {
      const { taskId, commit, head, conflict } = report;
      if (!awaitsMerge(workerOf(run, taskId), commit)) return [];
      const settled = conflict ? { settled: conflict } : {};
      return [{ type: "workspace:merged", data: { id: run.id, taskId, commit, head, ...settled } }];
    }
    case "conflicted": {
      const { taskId, commit, head, conflict } = report;
      return awaitsMerge(workerOf(run, taskId), commit)
        ? [{ type: "workspace:conflict", data: { id: run.id, taskId, commit, head, conflict } }]
        : [];
    }
    case "mergeChecked": {
      const { tasks, commit, commands } = report;
      return [{ type: "merge:checked", data: { id: run.id, tasks, commit, commands } }];
    }
    case "mergeRejected":
      return rejectMerge(run, report);
    case "emerging":
      return noteEmerging(run, report);
    case "tick":
      return [];
    case "spending":
      return spending(run, report.usage, at);
    case "clockJumped":
      return run.startedAt === null
        ? []
        : [{ type: "orchestrator:clockJumped", data: { id: run.id, byMs: report.byMs } }];
    case "expired":
      // The entry in `deadlines` may have moved since the engine set its timer.
      if (!deadlines(run).some((each) => each.sessionId === report.sessionId && each.at <= at)) return [];
      return aboutSession(run, report, at);
    default:
      return aboutSession(run, report, at);
  }
}

/** An adopted session repeats its signals, so a start or end that `run.subagents` has is ignored. */
function aboutSubagent(run: Run, { sessionId, taskId, subagent }: Extract<Report, { type: "subagent" }>): RunEvent[] {
  const { childSessionId, phase, text, taskToolId, parentSessionId, status, registered } = subagent;
  const known = run.subagents && entryOf(run.subagents, childSessionId);
  const about = { id: run.id, sessionId, taskId, childSessionId };
  if (phase === "started") {
    const parent = parentSessionId === null ? {} : { parentSessionId };
    const more = { taskToolId, description: text, ...parent, ...(registered ? { registered } : {}) };
    // A `registered` sub-session may be registered again after its end.
    const isRepeated = known !== undefined && (known.endedAt === null || !registered);
    return isRepeated ? [] : [{ type: "subagent:started", data: { ...about, ...more } }];
  }
  if (!known || known.endedAt !== null) return [];
  const end = status === "completed" ? {} : { status };
  return [{ type: "subagent:ended", data: { ...about, taskToolId: known.taskToolId, text, ...end } }];
}

type SessionReport = Exclude<Extract<Report, { sessionId: string }>, { type: "abandoned" | "subagent" }>;

/** Far more open questions than a user can answer. Without a limit, a session could fill the log and the inbox. */
const MAX_QUESTIONS = 100;

function aboutSession(run: Run, given: SessionReport, at: number): RunEvent[] {
  const worker = workerOfSession(run, given.sessionId);
  if (worker && worker.session.state !== "over")
    return aboutWorker(run, worker, unlessFlood(run, worker.session, given), at);
  const main = run.main?.sessionId === given.sessionId && run.main.state !== "over" ? run.main : null;
  return main ? aboutMain(run, main, unlessFlood(run, main, given), at) : [];
}

/** Returns the loss of a session that asks more than `MAX_QUESTIONS`, and every other report as it is. */
function unlessFlood(run: Run, { asks }: Pick<SessionState, "asks">, report: SessionReport): SessionReport {
  if (report.type !== "asked" || Object.hasOwn(asks, report.askId)) return report;
  const { sessionId } = report;
  const open = valuesOf(run.inbox).filter((item) => item.sessionId === sessionId && item.askId !== null);
  if (open.length < MAX_QUESTIONS) return report;
  const reason = sentence("it asked more than {count} questions at a time", { count: MAX_QUESTIONS });
  return { type: "lost", sessionId, reason, counted: true };
}

function spawnMain(run: Run, at: number): RunEvent[] {
  if (run.owed === null || run.status === "paused" || (run.main && run.main.state !== "over")) return [];
  if (waitsForDecisions(run)) return [];
  // The provider may have refused since the engine read the schedule.
  if (!mayAsk(run, mainAgent(run).agent, at)) return [];
  const spent = exhaustedBudget(run, at, { turn: false, session: true });
  if (spent !== null) return askForMore(run, spent, at);
  const attempt = (run.main?.attempt ?? 0) + 1;
  const sessionId = mainSessionId(run.id, attempt, run.template.config.sessionPrefix);
  return [
    {
      type: "main:spawning",
      data: { id: run.id, sessionId, taskId: null, attempt, start: run.head!, ...mainAgent(run) },
    },
  ];
}

function spawn(run: Run, taskId: string, at: number): RunEvent[] {
  // Another worker may have started since the engine read the schedule.
  if (!isReady(run, taskId, at) || !hasRoom(run, taskId, at)) return [];
  const task = taskOf(run, taskId)!;
  if (isHeldBack(run, task, null, at)) return [];
  const assigned = workerAgent(run, task);
  if (!mayAsk(run, assigned.agent, at)) return [];
  const spent = exhaustedBudget(run, at, { turn: false, session: true });
  if (spent !== null) return askForMore(run, spent, at);
  const attempt = (workerOf(run, taskId)?.attempt ?? 0) + 1;
  // Without `start` the engine combines the dependencies, which do not conflict then.
  const rework = workerOf(run, taskId)?.rework;
  const { delegation } = task;
  const isOnBranch = delegation !== undefined || collisionsOf(run, taskId).length > 0;
  const usualStart = rework ? { start: rework.start } : isOnBranch ? { start: delegation?.start ?? run.head! } : {};
  // A task that `isDeployment` deploys exactly the approved commit.
  const start = isDeployment(run, task) ? { start: deployableCommit(run, at)! } : usualStart;
  const sessionId = workerSessionId(run.id, taskId, attempt, run.template.config.sessionPrefix);
  return [
    {
      type: "worker:spawning",
      data: { sessionId, orchestratorId: run.id, taskId, attempt, ...assigned, ...start },
    },
  ];
}

function aboutMain(run: Run, main: NonNullable<Run["main"]>, report: SessionReport, at: number): RunEvent[] {
  const withdrawn = withdrawQuestions(run, main.sessionId);
  switch (report.type) {
    case "ready":
      return main.state === "spawning"
        ? [{ type: "main:spawned", data: { id: run.id, sessionId: main.sessionId, taskId: null } }]
        : [];
    case "unpreparable":
      // Only the user can change the causes in `NEEDS_USER`. Any other, for example a failed `git worktree add`, may
      // pass. A repair never ends the run.
      if (NEEDS_USER.has(report.code) && !isRepairing(run))
        return failMain(run, "main session", report.error, report.code, at);
      return [...withdrawn, ...loseMain(run, main, { reason: report.error, code: report.code }, at)];
    case "asked":
      return ask(run, null, report, at);
    case "lost": {
      const { reason, counted } = report;
      return [...withdrawn, ...loseMain(run, main, { reason, code: "session_lost", counted }, at)];
    }
    case "expired": {
      const reason = sentence("the {phase} phase timed out without an answer", { phase: String(run.currentPhase) });
      return [...withdrawn, ...loseMain(run, main, { reason, code: "phase_timeout", limit: MAX_TIMEOUTS }, at)];
    }
    case "idle":
    case "known":
    case "unplaced":
      return [];
    case "checking":
      return [{ type: "verification:checking", data: { id: run.id, commit: report.commit } }];
    case "checked": {
      const { commit, commands } = report;
      return [{ type: "verification:checked", data: { id: run.id, commit, commands } }];
    }
    case "acknowledged":
      return [];
    case "steered":
      return steered(run, main.sessionId, null, report.message);
    case "troubled":
      return main.turn ? troubled(run, main.agent, report, at) : [];
    case "unasked":
      return takeBack(run, main.sessionId, report.askId);
    case "turnOver":
      if (main.turn?.number !== report.turn) return [];
      return decideMainAnswer(run, main, discardOutdatedAnswer(run, null, report.over), at);
  }
}

function aboutWorker(run: Run, worker: Worker, report: SessionReport, at: number): RunEvent[] {
  const about = { sessionId: worker.sessionId, orchestratorId: run.id, taskId: worker.taskId };
  const withdrawn = withdrawQuestions(run, worker.sessionId);
  switch (report.type) {
    case "ready":
      if (worker.status !== "spawning") return [];
      return [
        ...withdrawn,
        {
          type: "worker:spawned",
          data: { ...about, task: worker.task, start: report.start, ...(report.key ? { key: report.key } : {}) },
        },
        { type: "worker:started", data: about },
        ...assign(run, worker, report, at),
      ];
    case "known":
      return takeOver(run, worker, report);
    case "unplaced":
      if (worker.status !== "spawning" || worker.keepsWaiting || withdrawn.length > 0) return [];
      return [askForHost(run, worker, report.labels, at)];
    case "checking":
    case "checked":
      return [];
    case "unpreparable":
      return [...withdrawn, { type: "worker:failed", data: { ...about, error: report.error, code: report.code } }];
    case "asked":
      return ask(run, worker.taskId, report, at);
    case "lost": {
      const { reason } = report;
      // A pause interrupts the agent, which may end its process. That does not count as a loss.
      const counted = report.counted && worker.status !== "paused";
      if (counted && worker.losses + 1 >= MAX_LOSSES) {
        const error = sentence("its session was lost {count} times: {detail}", { count: MAX_LOSSES, detail: reason });
        return [...withdrawn, { type: "worker:failed", data: { ...about, error, code: "session_lost" } }];
      }
      return [...withdrawn, { type: "worker:lost", data: { ...about, reason, counted } }];
    }
    case "expired": {
      const error = sentence("Worker timed out after {ms}ms", { ms: run.template.config.workerTimeout });
      return [...withdrawn, { type: "worker:timeout", data: { ...about, error, code: "worker_timeout" } }];
    }
    case "idle": {
      const { idleTimeout } = run.template.config;
      // A session is idle only during a turn that waits for no answer of the user.
      const waits = worker.status !== "running" || worker.session.turn === null || withdrawn.length > 0;
      // Tutti does not see the activity of a role with the agent `OUTSIDE`.
      if (worker.session.agent === OUTSIDE) return [];
      if (idleTimeout === undefined || report.forMs < idleTimeout || waits) return [];
      // Time before `turn.startedAt` does not count.
      if (at - worker.session.turn!.startedAt < idleTimeout) return [];
      const error = sentence("Worker showed no activity for {ms}ms", { ms: idleTimeout });
      return [{ type: "worker:timeout", data: { ...about, error, code: "worker_idle" } }];
    }
    case "acknowledged":
      return acknowledge(run, worker.sessionId);
    case "steered":
      return steered(run, worker.sessionId, worker.taskId, report.message);
    case "troubled":
      return worker.session.turn ? troubled(run, worker.session.agent, report, at) : [];
    case "unasked":
      return takeBack(run, worker.sessionId, report.askId);
    case "turnOver":
      if (worker.session.turn?.number !== report.turn) return [];
      return [
        ...withdrawn,
        ...decideWorkerAnswer(run, worker, discardOutdatedAnswer(run, worker.taskId, report.over), at),
      ];
  }
}

function ask(run: Run, taskId: string | null, report: Extract<Report, { type: "asked" }>, at: number): RunEvent[] {
  const { itemId, sessionId, askId, question, options, permission, blocker } = report;
  // An adopted session repeats its signals, so `session.asks` may have the question already.
  const session = taskId === null ? run.main : workerOf(run, taskId)?.session;
  if (session && Object.hasOwn(session.asks, askId)) return [];
  const { answerTimeout = permission ? PERMISSION_TIMEOUT_MS : undefined } = run.template.config;
  const byDefault = permission ? noAmong(options) : (options?.[0] ?? NO_ANSWER);
  const item = {
    id: itemId,
    kind: permission ? ("permission" as const) : blocker ? ("blocker" as const) : ("question" as const),
    taskId,
    sessionId,
    askId,
    question,
    ...(options ? { options } : {}),
    ...(permission || blocker ? { evidence: permission ?? blocker, risk: "medium" as const } : {}),
    ...(answerTimeout === undefined ? {} : { expiresAt: at + answerTimeout, default: byDefault }),
  };
  const raised = blocker && taskId !== null ? [blockerRaised(run, { ...item, taskId }, blocker)] : [];
  const added = addItem(run, item, at);
  const key = asking(taskId, question);
  const earlier = Object.hasOwn(run.answers, key) ? run.answers[key]! : null;
  if (earlier === null || !isRepeated(report, earlier)) return [...raised, added];
  return [...raised, added, answered(run, added.data.item, earlier.text)];
}

/**
 * Whether the user answered this question before, but the agent could not use the answer: its session was suspended
 * (`unheard`), or lost and replaced. Otherwise the same session that asks again has a new question. A permission counts
 * only for a suspended session and the same use, because two requests with the same text may be about different things.
 */
function isRepeated({ sessionId, permission }: Extract<Report, { type: "asked" }>, earlier: GivenAnswer): boolean {
  if (earlier.sessionId !== sessionId) return permission === undefined;
  return earlier.unheard === true && JSON.stringify(earlier.permission) === JSON.stringify(permission);
}

const takeBack = (run: Run, sessionId: string, askId: string): RunEvent[] =>
  withdraw(run, (item) => item.sessionId === sessionId && item.askId === askId);

/**
 * An agent stands still while it waits for a permission, so the wait ends after `PERMISSION_TIMEOUT_MS` even without an
 * `answerTimeout`.
 */
const PERMISSION_TIMEOUT_MS = 1_800_000;

function spending(run: Run, usage: Usage, at: number): RunEvent[] {
  const kind = PAUSABLE.has(run.status) ? exhaustedBudget(run, at, { turn: false, session: false }, usage) : null;
  return kind === null ? [] : askForMore(run, kind, at, usage);
}

/** `run.hooks` makes sure that a hook runs at most once per cause, even if the engine restarts. */
function aboutHook(run: Run, report: Extract<Report, { type: "hookStarted" | "hookEnded" }>): RunEvent[] {
  const { name: hook, cause } = report.hook;
  const state = entryOf(run.hooks, hookKey(hook, cause));
  if (report.type === "hookStarted") {
    return state ? [] : [{ type: "hook:started", data: { id: run.id, hook, cause, run: report.hook.run } }];
  }
  if (state !== "running") return [];
  const { ok, detail, durationMs } = report;
  const ended: RunEvent = { type: "hook:ended", data: { id: run.id, hook, cause, ok, detail, durationMs } };
  const stops = !ok && report.pause && PAUSABLE.has(run.status);
  return stops
    ? [ended, ...pause(run, "hook", sentence("The hook {hook} failed: {detail}", { hook, detail }))]
    : [ended];
}
