// The rules for what the main session answers: each phase's answer moves the run on, or is asked for again.
import type { TurnOver } from "./command.ts";
import { afterAggregation, complete, enter, fail } from "./follow.ts";
import { parallelGroups } from "./graph.ts";
import { readPlan } from "./plan.ts";
import { withdrawQuestions } from "./withdraw.ts";
import type {
  AggregationAnswer,
  AnalysisAnswer,
  Answer,
  TaskListAnswer,
  VerificationAnswer,
} from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";
import type { SessionState } from "../schema/worker.ts";

/** A turn without a usable answer is asked again until it has been asked this often. */
export const MAX_TRIES = 3;

export function decideMainAnswer(run: Run, main: SessionState, over: TurnOver, at: number): RunEvent[] {
  const { answer, ending } = over;
  const phase = main.turn!.phase;
  const ended = (problems: string[]): RunEvent[] => [
    ...withdrawQuestions(run, main.sessionId),
    {
      type: "turn:ended",
      data: {
        id: run.id,
        sessionId: main.sessionId,
        taskId: null,
        turn: main.turn!.number,
        ending,
        problems,
        said: problems.length > 0 ? over.said : null,
        guess: problems.length > 0 ? over.guess : null,
        toolStats: over.toolStats,
        usage: over.usage,
      },
    },
  ];

  if (answer === null) {
    if (ending.kind !== "ended") return [...ended([]), fail(run, phase, ending.detail, "turn_failed", at)];
    const problems = over.problems.length > 0 ? over.problems : ["the answer holds no block"];
    if (run.owed!.try < MAX_TRIES) return ended(problems);
    const error = `no usable answer after ${MAX_TRIES} tries: ${problems.join("; ")}`;
    return [
      ...ended(problems),
      askForData(run, phase, error, over.itemId, at),
      fail(run, phase, error, "no_answer", at),
    ];
  }
  return takeAnswer(run, answer, over.work?.head ?? run.head!, ended, at);
}

/** The person may know what the agent could not say. */
function askForData(run: Run, phase: Phase, error: string, itemId: string, at: number): RunEvent {
  const question = `The ${phase} phase got ${error.replace(/\.+$/, "")}. Its data can be supplied by hand.`;
  const of = { run: run.id, taskId: null, sessionId: null, askId: null };
  const item = { id: itemId, kind: "data" as const, ...of, question, phase, createdAt: at };
  return { type: "inbox:added", data: { id: run.id, item } };
}

/** What follows from an answer, whoever gave it. */
export function takeAnswer(run: Run, answer: Answer, head: string, ended: Ended, at: number): RunEvent[] {
  switch (answer.phase) {
    case "analysis":
      return [...ended([]), analysed(run, answer.data), enter(run, "taskPlanning", "planning")];
    case "task_list":
      return planned(run, answer.data, ended);
    case "aggregation":
      return aggregated(run, answer.data, head, ended, at);
    case "verification":
      return verified(run, answer.data, head, ended, at);
    case "completion":
      return ended(["a completion is a worker's answer"]);
  }
}

type Ended = (problems: string[]) => RunEvent[];

function analysed(run: Run, answer: AnalysisAnswer): RunEvent {
  return {
    type: "orchestrator:analysisComplete",
    data: {
      id: run.id,
      analysis: {
        summary: answer.summary,
        recommendedSplits: answer.recommended_splits,
        keyFiles: answer.key_files ?? [],
        estimatedComplexity: answer.estimated_complexity ?? null,
        components: answer.components ?? [],
        notes: answer.notes ?? null,
        warnings: answer.warnings ?? [],
      },
    },
  };
}

/** A plan that cannot be carried out is an unusable answer; after the last try it is shown with its errors. */
function planned(run: Run, answer: TaskListAnswer, ended: Ended): RunEvent[] {
  const { tasks, errors } = readPlan(answer);
  if (errors.length > 0 && run.owed!.try < MAX_TRIES) return ended(errors);
  const groups = errors.length > 0 ? [] : parallelGroups(tasks);
  const ready: RunEvent = {
    type: "orchestrator:tasksReady",
    data: { id: run.id, taskCount: tasks.length, parallelGroups: groups, tasks, errors },
  };
  return [...ended([]), ready];
}

function aggregated(run: Run, answer: AggregationAnswer, head: string, ended: Ended, at: number): RunEvent[] {
  const taken: RunEvent[] = [
    ...ended([]),
    { type: "orchestrator:aggregated", data: { id: run.id, aggregation: answer, head } },
  ];
  if (answer.status === "success") return [...taken, ...afterAggregation({ ...run, aggregation: answer })];
  const why = answer.error ?? answer.summary ?? `the main session answered ${answer.status}`;
  const error = answer.status === "needs_input" ? `aggregation needs a person's decision: ${why}` : why;
  return [...taken, fail(run, "aggregation", error, "aggregation_failed", at)];
}

function verified(run: Run, answer: VerificationAnswer, head: string, ended: Ended, at: number): RunEvent[] {
  const taken: RunEvent[] = [
    ...ended([]),
    { type: "orchestrator:verified", data: { id: run.id, verification: answer, head } },
  ];
  if (answer.status !== "failed") return [...taken, complete(run)];
  const found = (answer.issues ?? []).filter((issue) => issue.severity === "error").map((issue) => issue.description);
  return [
    ...taken,
    fail(run, "verification", answer.summary ?? (found.join("; ") || "verification failed"), "verification_failed", at),
  ];
}
