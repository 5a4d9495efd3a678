// The rules for what the main session answers: each phase's answer moves the run on, or is asked for again.
import { settleConflicts } from "./apply.ts";
import { askPerson } from "./ask-person.ts";
import type { History, TurnOver } from "./command.ts";
import { estimatePlan } from "./estimate.ts";
import { afterAggregation, complete, enter, fail } from "./follow.ts";
import { parallelGroups } from "./graph.ts";
import { addItem, withdrawQuestions } from "./inbox.ts";
import { pause } from "./lifecycle.ts";
import { MAX_LOSSES } from "./losses.ts";
import { readPlan, type Plan } from "./plan.ts";
import { adviceOn, park, refused } from "./provider.ts";
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
  const ended = (problems: string[], again = false): RunEvent[] => [
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
        ...(again ? { again } : {}),
        said: problems.length > 0 ? over.said : null,
        guess: problems.length > 0 ? over.guess : null,
        toolStats: over.toolStats,
        usage: over.usage,
      },
    },
  ];

  if (answer === null) {
    // Paused in the middle: the same question is put again when it goes on.
    if (ending.kind === "interrupted" || main.pausedAt !== null) return ended([]);
    if (ending.kind !== "ended") return breakOff(run, main, over, ended, at);
    if (over.question !== null) return [...ended([]), askPerson(run, null, main.sessionId, over, at)];
    const problems = over.problems.length > 0 ? over.problems : ["the answer holds no block"];
    if (run.owed!.try < MAX_TRIES) return ended(problems);
    const error = `no usable answer after ${MAX_TRIES} tries: ${problems.join("; ")}`;
    return [
      ...ended(problems),
      askForData(run, phase, error, over.itemId, at),
      fail(run, phase, error, "no_answer", at),
    ];
  }
  return takeAnswer(run, answer, { head: over.work?.head ?? run.head!, history: over.history }, ended, at);
}

/** A turn that broke off: whose fault that was says what follows. */
function breakOff(
  run: Run,
  main: SessionState,
  { ending, itemId }: TurnOver,
  ended: (problems: string[], again?: boolean) => RunEvent[],
  at: number,
): RunEvent[] {
  const { agent, sessionId } = main;
  if (ending.cause === "usage_limit") return [...ended([], true), ...park(run, agent, ending, itemId, at)];
  const wait = refused(run, main, ending, at);
  if (wait !== null) return [...ended([], true), wait];
  if (ending.cause === "context" && run.mainLosses + 1 < MAX_LOSSES) {
    const data = { id: run.id, sessionId, taskId: null, reason: ending.detail, counted: true };
    return [...ended([], true), { type: "main:lost", data }];
  }
  const error = adviceOn(run, agent, ending) ?? ending.detail;
  return [...ended([]), fail(run, main.turn!.phase, error, ending.cause ?? "turn_failed", at)];
}

/** The person may know what the agent could not say. */
function askForData(run: Run, phase: Phase, error: string, itemId: string, at: number): RunEvent {
  const question = `The ${phase} phase got ${error.replace(/\.+$/, "")}. Its data can be supplied by hand.`;
  return addItem(run, { id: itemId, kind: "data", question, phase }, at);
}

/** What goes with an answer: where the run's branch points after it, and what such tasks took before. */
export interface Circumstances {
  head: string;
  history?: History | undefined;
}

/** What follows from an answer, whoever gave it. */
export function takeAnswer(run: Run, answer: Answer, about: Circumstances, ended: Ended, at: number): RunEvent[] {
  switch (answer.phase) {
    case "analysis":
      return [...ended([]), analysed(run, answer.data, about.head), ...afterAnalysis(run, at)];
    case "task_list":
      return planned(run, answer.data, about.history, ended, at);
    case "aggregation":
      return aggregated(run, answer.data, about.head, ended, at);
    case "verification":
      return verified(run, answer.data, about.head, ended, at);
    case "completion":
      return ended(["a completion is a worker's answer"]);
  }
}

/** Planning, if the template wants it; else the request itself is the one task, if there are to be workers at all. */
export function afterAnalysis(run: Run, at: number): RunEvent[] {
  const { taskPlanning, workerExecution } = run.template.phases;
  if (taskPlanning.enabled) return [enter(run, "taskPlanning", "planning")];
  if (!workerExecution.enabled) return [complete(run)];
  return [enter(run, "taskPlanning", "planning"), ...planWithoutAsking(run, at)];
}

export function planWithoutAsking(run: Run, at: number): RunEvent[] {
  return run.template.phases.workerExecution.enabled
    ? planReady(run, planOfRequest(run), undefined, at)
    : [complete(run)];
}

function planOfRequest(run: Run): Plan {
  const [title = "The request"] = run.userRequest.trim().split("\n");
  const task = { id: "task_001", title: title.slice(0, 100), description: run.userRequest, scope: [], priority: 1 };
  return { tasks: [{ ...task, dependencies: [] }], errors: [], warnings: [], executionOrder: null };
}

type Ended = (problems: string[]) => RunEvent[];

function analysed(run: Run, answer: AnalysisAnswer, head: string): RunEvent {
  return {
    type: "orchestrator:analysisComplete",
    data: {
      id: run.id,
      head,
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
function planned(run: Run, answer: TaskListAnswer, history: History | undefined, ended: Ended, at: number): RunEvent[] {
  const plan = readPlan(answer, run.template, history?.msByTitle);
  if (plan.errors.length > 0 && run.owed!.try < MAX_TRIES) return ended(plan.errors);
  return [...ended([]), ...planReady(run, plan, history, at)];
}

/** The plan, and the question to the person whether it is to be carried out, with what it will probably take. */
function planReady(run: Run, plan: Plan, history: History | undefined, at: number): RunEvent[] {
  const { tasks, errors, warnings, executionOrder } = plan;
  const groups = errors.length > 0 ? [] : parallelGroups(tasks);
  const data = { taskCount: tasks.length, parallelGroups: groups, tasks, errors, warnings, executionOrder };
  const ready: RunEvent = { type: "orchestrator:tasksReady", data: { id: run.id, ...data } };
  // Without workers the plan is the result, and nobody is asked.
  if (!run.template.phases.workerExecution.enabled && errors.length === 0) {
    const skipped = Object.fromEntries(tasks.map(({ id }) => [id, { satisfied: true }]));
    return [ready, complete({ ...run, tasks, skipped })];
  }
  return [ready, askToConfirm(run, plan, history, at)];
}

function askToConfirm(run: Run, { tasks, errors }: Plan, history: History | undefined, at: number): RunEvent {
  const { maxWorkers, parallelExecution } = run.template.config;
  const sound = errors.length === 0;
  const estimate = sound ? estimatePlan(tasks, parallelExecution ? maxWorkers : 1, history) : null;
  const question = sound
    ? `Carry out this plan of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}?`
    : `The plan cannot be carried out as it stands: ${errors.join("; ")}`;
  return addItem(
    run,
    { kind: "plan", question, evidence: { tasks, errors, estimate, budget: run.budget }, risk: "medium" },
    at,
  );
}

function aggregated(run: Run, answer: AggregationAnswer, head: string, ended: Ended, at: number): RunEvent[] {
  const taken: RunEvent[] = [
    ...ended([]),
    { type: "orchestrator:aggregated", data: { id: run.id, aggregation: answer, head } },
  ];
  if (answer.status === "failed") {
    const error = answer.error ?? answer.summary ?? "the main session answered failed";
    return [...taken, fail(run, "aggregation", error, "aggregation_failed", at)];
  }
  const questions = openDecisions(run, answer, at);
  if (questions.length === 0) return [...taken, ...afterAggregation(settle({ ...run, aggregation: answer }))];
  const why = answer.summary ?? "merging needs a decision";
  return [...taken, ...questions, ...(run.status === "paused" ? [] : pause(run, "needs_input", why))];
}

/**
 * What only the person can decide: everything the main session asks, and, where the template wants the person to decide
 * conflicts, every conflict that was found. What has been decided is not asked again.
 */
function openDecisions(run: Run, answer: AggregationAnswer, at: number): RunEvent[] {
  const { mergeStrategy, conflictResolution } = run.template.phases.aggregation;
  const asks = answer.status === "needs_input";
  const byPerson = mergeStrategy === "manual" || conflictResolution === "ask";
  if (!asks && (!byPerson || run.decisions.length > 0)) return [];
  const ofAgent = (answer.conflicts ?? []).map((conflict) => ({
    question: conflict.description ?? `${conflict.type} in ${conflict.files?.join(", ") ?? "the result"}`,
    options: conflict.options,
    evidence: conflict,
  }));
  const ofGit = run.conflicts
    .filter(({ resolution }) => resolution === null)
    .map((conflict) => ({
      question: `${conflict.tasks.join(" and ")} changed ${conflict.files.join(", ")} in ways that collide`,
      options: conflict.tasks.map((task) => `take the version of ${task}`),
      evidence: conflict,
    }));
  const found = byPerson ? [...ofAgent, ...ofGit] : ofAgent;
  const whole = {
    question: answer.summary ?? "The main session needs a decision",
    options: undefined,
    evidence: answer,
  };
  return (asks && found.length === 0 ? [whole] : found).map(({ question, options, evidence }, index) =>
    addItem(run, { kind: "decision", question, ...(options ? { options } : {}), evidence, index, risk: "medium" }, at),
  );
}

/** A conflict on which the person has decided is settled when the main session has merged with that decision. */
const settle = (run: Run): Run => (run.decisions.length > 0 ? { ...run, conflicts: settleConflicts(run) } : run);

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
