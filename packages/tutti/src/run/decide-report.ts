// The rules for what the engine reports about sessions and workspaces.
import { asking } from "./apply.ts";
import type { Report, TurnOver } from "./command.ts";
import { decideMainAnswer, MAX_TRIES } from "./decide-main-answer.ts";
import { fail, mishap } from "./follow.ts";
import { deadlines, isReady } from "./schedule.ts";
import { withdrawQuestions } from "./withdraw.ts";
import type { CompletionAnswer } from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import { mainSessionId, workerSessionId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import type { Worker } from "../schema/worker.ts";

/** Sessions of one task, or main sessions, that may vanish for no reason of ours before we stop trying. */
export const MAX_LOSSES = 3;

export function decideReport(run: Run, report: Report, at: number): RunEvent[] {
  if (report.type === "released")
    return isRunOver(run.status) && !run.released ? [{ type: "workspace:released", data: { id: run.id } }] : [];
  if (report.type === "told") return [report.event];
  if (report.type === "mishap") return [mishap(run, report.operation, report.error, report.code, at)];
  if (isRunOver(run.status)) return [];
  switch (report.type) {
    case "spawnMain":
      return spawnMain(run);
    case "spawn":
      return spawn(run, report.taskId);
    case "fault":
      return [fail(run, report.operation, report.error, report.code, at)];
    case "merged": {
      const { taskId, commit, head } = report;
      return awaitsMerge(run, taskId, commit)
        ? [{ type: "workspace:merged", data: { id: run.id, taskId, commit, head } }]
        : [];
    }
    case "conflicted": {
      const { taskId, commit, conflict } = report;
      return awaitsMerge(run, taskId, commit)
        ? [{ type: "workspace:conflict", data: { id: run.id, taskId, commit, conflict } }]
        : [];
    }
    case "expired":
      // Something may have given the session more time since the clock was set.
      if (!deadlines(run).some((each) => each.sessionId === report.sessionId && each.at <= at)) return [];
      return aboutSession(run, report, at);
    default:
      return aboutSession(run, report, at);
  }
}

type SessionReport = Extract<Report, { sessionId: string }>;

function aboutSession(run: Run, report: SessionReport, at: number): RunEvent[] {
  const worker = Object.values(run.workers).find((each) => each.sessionId === report.sessionId);
  if (worker && worker.session.state !== "over") return aboutWorker(run, worker, report, at);
  const main = run.main?.sessionId === report.sessionId && run.main.state !== "over" ? run.main : null;
  return main ? aboutMain(run, main, report, at) : [];
}

function spawnMain(run: Run): RunEvent[] {
  if (run.owed === null || (run.main && run.main.state !== "over")) return [];
  const attempt = (run.main?.attempt ?? 0) + 1;
  const sessionId = mainSessionId(run.id, attempt, run.template.config.sessionPrefix);
  return [{ type: "main:spawning", data: { id: run.id, sessionId, taskId: null, attempt, start: run.head! } }];
}

function spawn(run: Run, taskId: string): RunEvent[] {
  if (!isReady(run, taskId)) return [];
  const attempt = (run.workers[taskId]?.attempt ?? 0) + 1;
  const sessionId = workerSessionId(run.id, taskId, attempt, run.template.config.sessionPrefix);
  return [{ type: "worker:spawning", data: { sessionId, orchestratorId: run.id, taskId, attempt } }];
}

function awaitsMerge(run: Run, taskId: string, commit: string): boolean {
  const worker = run.workers[taskId];
  return worker?.status === "completed" && worker.commit === commit && worker.merged === "not yet";
}

function aboutMain(run: Run, main: NonNullable<Run["main"]>, report: SessionReport, at: number): RunEvent[] {
  const about = { id: run.id, sessionId: main.sessionId, taskId: null };
  switch (report.type) {
    case "ready":
      return main.state === "spawning" ? [{ type: "main:spawned", data: about }] : [];
    case "unpreparable":
      return [fail(run, "main session", report.error, report.code, at)];
    case "asked":
      return ask(run, null, report, at);
    case "lost": {
      const gone: RunEvent[] = [
        ...withdrawQuestions(run, main.sessionId),
        { type: "main:lost", data: { ...about, reason: report.reason, counted: report.counted } },
      ];
      const tooOften = report.counted && run.mainLosses + 1 >= MAX_LOSSES;
      return tooOften
        ? [
            ...gone,
            fail(
              run,
              "main session",
              `the main session was lost ${MAX_LOSSES} times: ${report.reason}`,
              "session_lost",
              at,
            ),
          ]
        : gone;
    }
    case "expired": {
      // A phase that takes too long is given one more session, then the run has failed.
      const reason = `no answer within the time of the ${run.currentPhase} phase`;
      const gone: RunEvent[] = [
        ...withdrawQuestions(run, main.sessionId),
        { type: "main:lost", data: { ...about, reason, counted: true } },
      ];
      return run.mainLosses >= 1
        ? [...gone, fail(run, run.currentPhase ?? "main session", reason, "phase_timeout", at)]
        : gone;
    }
    case "turnOver":
      if (main.turn?.number !== report.turn) return [];
      return decideMainAnswer(run, main, report.over, at);
  }
}

function aboutWorker(run: Run, worker: Worker, report: SessionReport, at: number): RunEvent[] {
  const about = { sessionId: worker.sessionId, orchestratorId: run.id, taskId: worker.taskId };
  const withdrawn = withdrawQuestions(run, worker.sessionId);
  switch (report.type) {
    case "ready":
      if (worker.status !== "spawning") return [];
      return [
        { type: "worker:spawned", data: { ...about, task: worker.task, start: report.start } },
        { type: "worker:started", data: about },
      ];
    case "unpreparable":
      return [...withdrawn, { type: "worker:failed", data: { ...about, error: report.error, code: report.code } }];
    case "asked":
      return ask(run, worker.taskId, report, at);
    case "lost": {
      const { reason, counted } = report;
      if (counted && worker.losses + 1 >= MAX_LOSSES) {
        const error = `its session was lost ${MAX_LOSSES} times: ${reason}`;
        return [...withdrawn, { type: "worker:failed", data: { ...about, error, code: "session_lost" } }];
      }
      return [...withdrawn, { type: "worker:lost", data: { ...about, reason, counted } }];
    }
    case "expired": {
      const error = `Worker timed out after ${run.template.config.workerTimeout}ms`;
      return [...withdrawn, { type: "worker:timeout", data: { ...about, error } }];
    }
    case "turnOver":
      if (worker.session.turn?.number !== report.turn) return [];
      return [...withdrawn, ...decideWorkerAnswer(run, worker, report.over)];
  }
}

function ask(run: Run, taskId: string | null, report: Extract<Report, { type: "asked" }>, at: number): RunEvent[] {
  const { itemId, sessionId, askId, question, options } = report;
  // An adopted session tells its story again, with questions that have been put to the person before.
  const session = taskId === null ? run.main : run.workers[taskId]?.session;
  if (session && Object.hasOwn(session.asks, askId)) return [];
  const item = {
    id: itemId,
    kind: "question" as const,
    run: run.id,
    taskId,
    sessionId,
    askId,
    question,
    createdAt: at,
  };
  const asked: RunEvent = {
    type: "inbox:added",
    data: { id: run.id, item: { ...item, ...(options ? { options } : {}) } },
  };
  const known = asking(taskId, question);
  if (!Object.hasOwn(run.answers, known)) return [asked];
  // The person has answered this to a session that did not live to use it.
  return [asked, { type: "inbox:answered", data: { id: run.id, itemId, text: run.answers[known]!, withdrawn: false } }];
}

/** A report is a claim: it counts when it comes from the task's own session, says so explicitly, and work can be seen. */
function decideWorkerAnswer(run: Run, worker: Worker, over: TurnOver): RunEvent[] {
  const about = { sessionId: worker.sessionId, orchestratorId: run.id, taskId: worker.taskId };
  const ended = (problems: string[]): RunEvent => ({
    type: "turn:ended",
    data: {
      id: run.id,
      sessionId: worker.sessionId,
      taskId: worker.taskId,
      turn: worker.session.turn!.number,
      ending: over.ending,
      problems,
      said: problems.length > 0 ? over.said : null,
      guess: problems.length > 0 ? over.guess : null,
      toolStats: over.toolStats,
      usage: over.usage,
    },
  });
  const failed = (error: string, code: string): RunEvent[] => [
    ended([]),
    { type: "worker:failed", data: { ...about, error, code } },
  ];

  const report = over.answer?.phase === "completion" ? over.answer.data : null;
  if (report === null) {
    if (over.ending.kind !== "ended") return failed(over.ending.detail, "turn_failed");
    const problems = over.problems.length > 0 ? over.problems : ["the answer holds no block"];
    if (worker.owed!.try >= MAX_TRIES)
      return failed(`no usable answer after ${MAX_TRIES} tries: ${problems.join("; ")}`, "no_answer");
    return [ended(problems)];
  }
  if (report.status === "timeout") {
    return [
      ended([]),
      { type: "worker:timeout", data: { ...about, error: report.error ?? "the worker reported a timeout" } },
    ];
  }
  if (report.status === "failed")
    return failed(report.error ?? report.summary ?? "the worker reported a failure", "reported_failure");
  const worked = over.toolStats.total > 0 || worker.endedTools.total > 0 || (over.work?.files.length ?? 0) > 0;
  if (!worked && !run.template.config.acceptWithoutWork) {
    return failed("reported success, but called no tool and changed nothing", "no_work");
  }
  if (over.work === null) return failed("its workspace could not be read", "no_workspace");
  return [
    ended([]),
    { type: "worker:completed", data: { ...about, ...completion(report, over.work, report.status === "partial") } },
  ];
}

function completion(report: CompletionAnswer, work: NonNullable<TurnOver["work"]>, partial: boolean) {
  const output = report.output ?? report.summary ?? null;
  return { output, outputFiles: work.files, report, commit: work.commit, partial };
}
