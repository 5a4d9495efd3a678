// `takeAnswer`: the consequences of a usable answer, phase by phase.
import { assignableAgents } from "../rules/assign-agent.ts";
import { settleConflicts } from "../apply.ts";
import type { History } from "../command.ts";
import { afterAggregation, complete, endExecution, enter, fail } from "../consequences.ts";
import { askToConfirm } from "../plan/confirm.ts";
import { parallelGroups } from "../plan/graph.ts";
import { addItem } from "../inbox/inbox.ts";
import { pause } from "../lifecycle.ts";
import { askAboutConflicts, isLeftToUser, isRepairing, openConflicts } from "../rules/collisions.ts";
import { reasonsToFix } from "../rules/checks.ts";
import { failMain } from "../rules/main-failure.ts";
import { MAX_TRIES } from "../rules/losses.ts";
import { isNatural, statedEnd } from "../rules/natural.ts";
import { readPlan, type Plan } from "../plan/plan.ts";
import { planNextCycle, isPlanningAgain } from "../team/cycle.ts";
import { planOfPipeline } from "../team/pipeline.ts";
import type {
  AggregationAnswer,
  AnalysisAnswer,
  Answer,
  TaskListAnswer,
  VerificationAnswer,
} from "../../schema/answer.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";

interface AnswerContext {
  /** The run's branch after the answer. */
  head: string;
  history?: History | undefined;
  /** Lenient interpretations of the `Answer`. */
  warnings?: string[] | undefined;
  /** True if the answer has no block, and the session called no tool and changed no file. */
  isUnproven?: boolean;
  /** Claims about files that the result contradicts. */
  unproven?: string[];
}

/** `answer` is from the main session or from the user. */
export function takeAnswer(run: Run, answer: Answer, about: AnswerContext, ended: Ended, at: number): RunEvent[] {
  switch (answer.phase) {
    case "analysis":
      if (isNatural(run)) return endNaturally(run, answer.data, about, ended, at);
      return [...ended([]), analysed(run, answer.data, about.head), ...afterAnalysis(run, at)];
    case "task_list":
      return planned(run, answer.data, about.history, ended, at);
    case "aggregation":
      return aggregated(run, answer.data, about, ended, at);
    case "verification":
      return verified(run, answer.data, about.head, ended, at);
    case "completion":
      return ended(["Only a worker may answer with a completion block."]);
  }
}

const NO_WORK = "You called no tool and changed no file. Carry out the request, then answer.";

/**
 * The report of the only session ends the run. Like a worker's, it is a claim: without any work (`isUnproven`) it is
 * rejected.
 */
function endNaturally(run: Run, answer: AnalysisAnswer, about: AnswerContext, ended: Ended, at: number): RunEvent[] {
  if (about.isUnproven && !run.template.config.acceptWithoutWork) {
    if (run.owed!.try < MAX_TRIES) return ended([NO_WORK]);
    const error = sentence("the session reported success, but called no tool and changed nothing");
    return [...ended([NO_WORK]), ...failMain(run, "analysis", error, "no_work", at)];
  }
  const { status, reason } = statedEnd(answer.summary);
  if (status === "failed") return [...ended([]), ...failMain(run, "analysis", reason, "reported_failure", at)];
  const report = analysed(run, answer, about.head);
  return [...ended([]), report, complete({ ...run, analysis: report.data.analysis })];
}

/** Without the phase `taskPlanning` the request becomes the only task of the plan. */
function afterAnalysis(run: Run, at: number): RunEvent[] {
  const { taskPlanning, workerExecution } = run.template.phases;
  if (taskPlanning.enabled) return [enter(run, "taskPlanning", "planning")];
  if (!workerExecution.enabled) return [complete(run)];
  return [enter(run, "taskPlanning", "planning"), ...planWithoutAsking(run, at)];
}

export function planWithoutAsking(run: Run, at: number): RunEvent[] {
  return run.template.phases.workerExecution.enabled
    ? planReady(run, planOfPipeline(run) ?? planOfRequest(run), undefined, at)
    : [complete(run)];
}

function planOfRequest(run: Run): Plan {
  const [title = "The request"] = run.userRequest.trim().split("\n");
  const task = { id: "task_001", title: title.slice(0, 100), description: run.userRequest, scope: [], priority: 1 };
  return { tasks: [{ ...task, dependencies: [] }], errors: [], warnings: [], executionOrder: null };
}

type Ended = (problems: string[]) => RunEvent[];

function analysed(run: Run, answer: AnalysisAnswer, head: string): EventOf<"orchestrator:analysisComplete"> {
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

/** An invalid plan is an unusable answer. After `MAX_TRIES` the user gets it with its errors. */
function planned(run: Run, answer: TaskListAnswer, history: History | undefined, ended: Ended, at: number): RunEvent[] {
  if (isPlanningAgain(run) && answer.tasks.length === 0) return [...ended([]), ...endExecution(run, at)];
  const plan = readPlan(answer, run.template, history?.msByTitle, assignableAgents(run));
  if (plan.errors.length > 0 && run.owed!.try < MAX_TRIES) return ended(plan.errors);
  if (isPlanningAgain(run)) {
    if (plan.errors.length > 0)
      return [...ended(plan.errors), fail(run, "taskPlanning", plan.errors.join("; "), "no_answer", at)];
    return [...ended([]), planNextCycle(run, plan), enter(run, "workerExecution", "running")];
  }
  return [...ended([]), ...planReady(run, plan, history, at)];
}

/** Publishes the plan. The user must confirm it, unless `workerExecution` is disabled. */
export function planReady(run: Run, plan: Plan, history: History | undefined, at: number): RunEvent[] {
  const { tasks, errors, warnings, executionOrder } = plan;
  const groups = errors.length > 0 ? [] : parallelGroups(tasks);
  const data = { taskCount: tasks.length, parallelGroups: groups, tasks, errors, warnings, executionOrder };
  const ready: RunEvent = { type: "orchestrator:tasksReady", data: { id: run.id, ...data } };
  if (!run.template.phases.workerExecution.enabled && errors.length === 0) {
    const skipped = Object.fromEntries(tasks.map(({ id }) => [id, { satisfied: true }]));
    return [ready, complete({ ...run, tasks, skipped })];
  }
  return [ready, askToConfirm(run, plan, history, at)];
}

/** The block is an `AggregationAnswer` too, but only about the conflicts for which a task waits. */
function repaired(
  run: Run,
  answer: AggregationAnswer,
  { head, warnings = [] }: AnswerContext,
  ended: Ended,
  at: number,
): RunEvent[] {
  if (answer.status === "success") {
    return [...ended([]), { type: "workspace:repaired", data: { id: run.id, repair: answer, head } }];
  }
  const questions =
    answer.status === "needs_input" ? openDecisions(run, answer, warnings, at) : askAboutConflicts(run, at);
  return [...ended([]), ...questions];
}

function aggregated(
  run: Run,
  answer: AggregationAnswer,
  { head, warnings = [], unproven = [] }: AnswerContext,
  ended: Ended,
  at: number,
): RunEvent[] {
  if (isRepairing(run)) return repaired(run, answer, { head, warnings }, ended, at);
  const warned = warnings.length > 0 ? { warnings } : {};
  const doubted = unproven.length > 0 ? { unproven } : {};
  const taken: RunEvent[] = [
    ...ended([]),
    { type: "orchestrator:aggregated", data: { id: run.id, aggregation: answer, head, ...warned, ...doubted } },
  ];
  if (answer.status === "failed") {
    const error = answer.error ?? answer.summary ?? sentence("the main session reported a failure");
    return [...taken, ...failMain(run, "aggregation", error, "aggregation_failed", at)];
  }
  const questions = openDecisions(run, answer, warnings, at);
  if (questions.length === 0) return [...taken, ...afterAggregation(settle({ ...run, aggregation: answer, unproven }))];
  const why = answer.summary ?? sentence("merging needs a decision");
  return [...taken, ...questions, ...(run.status === "paused" ? [] : pause(run, "needs_input", why))];
}

/**
 * Decisions that the user has to make: those that the main session asks for and, if a conflict `isLeftToUser`, one for
 * each unresolved conflict. After the user decided, only the main session can ask again.
 */
function openDecisions(run: Run, answer: AggregationAnswer, warnings: readonly string[], at: number): RunEvent[] {
  const asks = answer.status === "needs_input";
  const byPerson = isLeftToUser(run);
  if (!asks && (!byPerson || run.decisions.length > 0)) return [];
  const open = openConflicts(run);
  const named = new Set<(typeof open)[number]>();
  const ofAgent = (answer.conflicts ?? []).map((conflict) => {
    // The main session may describe one of `openConflicts`. It becomes one question.
    const found = open.find(({ evidence }) => evidence.files.some((file) => conflict.files?.includes(file)));
    if (found) named.add(found);
    return {
      question: conflict.description ?? `${conflict.type} in ${conflict.files?.join(", ") ?? "the result"}`,
      options: conflict.options ?? found?.options,
      evidence: found ? { ...conflict, sides: found.evidence.sides } : conflict,
    };
  });
  const others = byPerson || ofAgent.length === 0 ? open.filter((each) => !named.has(each)) : [];
  const found = [...ofAgent, ...others];
  const whole = {
    question: [...warnings, answer.summary ?? sentence("The main session needs a decision")].join(". "),
    options: undefined,
    evidence: answer,
  };
  return (asks && found.length === 0 ? [whole] : found).map(({ question, options, evidence }, index) =>
    addItem(run, { kind: "decision", question, ...(options ? { options } : {}), evidence, index, risk: "medium" }, at),
  );
}

const settle = (run: Run): Run => ({ ...run, conflicts: settleConflicts(run, run.aggregation) });

function verified(run: Run, answer: VerificationAnswer, head: string, ended: Ended, at: number): RunEvent[] {
  const reasons = reasonsToFix(run, answer);
  if (reasons.length > 0) return [...ended([]), { type: "verification:fixing", data: { id: run.id, head, reasons } }];
  const taken: RunEvent[] = [
    ...ended([]),
    { type: "orchestrator:verified", data: { id: run.id, verification: answer, head } },
  ];
  if (answer.status !== "failed") return [...taken, complete({ ...run, verification: answer })];
  const found = (answer.issues ?? []).filter((issue) => issue.severity === "error").map((issue) => issue.description);
  const error = answer.summary ?? (found.join("; ") || sentence("verification failed"));
  return [...taken, ...failMain(run, "verification", error, "verification_failed", at)];
}
