// The rules for what a worker answers.
import type { TurnOver } from "./command.ts";
import { MAX_TRIES } from "./decide-main-answer.ts";
import type { CompletionAnswer } from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Worker } from "../schema/worker.ts";

/** A report is a claim: it counts when it comes from the task's own session, says so explicitly, and work can be seen. */
export function decideWorkerAnswer(run: Run, worker: Worker, over: TurnOver): RunEvent[] {
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
    // Paused in the middle: the same question is put again when it goes on.
    if (over.ending.kind === "interrupted" || worker.status === "paused") return [ended([])];
    if (over.ending.kind !== "ended") return failed(over.ending.detail, "turn_failed");
    const problems = over.problems.length > 0 ? over.problems : ["the answer holds no block"];
    if (worker.owed!.try >= MAX_TRIES)
      return failed(`no usable answer after ${MAX_TRIES} tries: ${problems.join("; ")}`, "no_answer");
    return [ended(problems)];
  }
  if (report.status === "timeout") {
    return [
      ended([]),
      {
        type: "worker:timeout",
        data: { ...about, error: report.error ?? "the worker reported a timeout", code: "reported_timeout" },
      },
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
