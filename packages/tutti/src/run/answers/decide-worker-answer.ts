import { changedOutside } from "../rules/scope.ts";
import { noUsableAnswer, turnEnded } from "./end-turn.ts";
import { askUser } from "../inbox/ask-user.ts";
import type { TurnOver } from "../command.ts";
import { pause } from "../lifecycle.ts";
import { MAX_LOSSES, MAX_TRIES } from "../rules/losses.ts";
import { describeUnproven } from "../outcome/work-warnings.ts";
import { escalate } from "../team/blocker.ts";
import {
  afterCompletion,
  escalationOf,
  faultsOf,
  reviewProblems,
  recordMessages,
  sendBack,
  speaksMessages,
  submit,
} from "../team/decide-team-answer.ts";
import { decideDelegatedTurn } from "../team/decide-delegation.ts";
import { newTasksIn } from "../team/delegate.ts";
import { speaksDelegation } from "../team/delegation.ts";
import { adviceOn, backOffAfter, park } from "../provider/provider.ts";
import { PAUSABLE } from "../transitions.ts";
import type { CompletionAnswer } from "../../schema/answer.ts";
import type { FailureCause } from "../../schema/ending.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { addTools, succeededTools, type Worker } from "../../schema/worker.ts";
import { sentence } from "../../sentence.ts";

export function decideWorkerAnswer(run: Run, worker: Worker, over: TurnOver, at: number): RunEvent[] {
  const delegates = newTasksIn(over).length > 0 || worker.duty != null;
  return speaksDelegation(run, worker) || (delegates && !speaksMessages(run, worker))
    ? decideReportedWork(run, worker, over, at, true)
    : [...recordMessages(run, worker, over), ...decideReportedWork(run, worker, over, at)];
}

/** A worker's `report` is only a claim: success needs an explicit completion and evidence of work. */
function decideReportedWork(run: Run, worker: Worker, over: TurnOver, at: number, delegates = false): RunEvent[] {
  const about = { sessionId: worker.sessionId, orchestratorId: run.id, taskId: worker.taskId };
  const { taskId } = worker;
  const ended = (problems: string[], again = false): RunEvent =>
    turnEnded(run, worker.session, { taskId, over, problems, ...(again ? { again } : {}) });
  const failed = (error: string, code: string): RunEvent[] => [
    ended([]),
    { type: "worker:failed", data: { ...about, error, code } },
  ];

  if (delegates) {
    const goOn = (): RunEvent[] => decideReportedWork(run, worker, over, at);
    const isLastTry = worker.owed!.try >= MAX_TRIES;
    return decideDelegatedTurn(run, worker, over, { ended, failed, goOn, isLastTry }, at);
  }
  const report = over.answer?.phase === "completion" ? over.answer.data : null;
  if (report === null) {
    // A paused session gets the same prompt again after it is resumed.
    if (over.ending.kind === "interrupted" || worker.status === "paused") return [ended([])];
    if (over.ending.kind !== "ended") return breakOff(run, worker, over, { again: ended([], true), failed }, at);
    const blocker = escalationOf(run, worker, over);
    if (blocker) return [ended([]), ...escalate(run, worker, blocker.body, { ...blocker, itemId: over.itemId }, at)];
    if (over.question !== null) return [ended([]), askUser(run, worker.taskId, worker.sessionId, over, at)];
    const problems = over.problems.length > 0 ? over.problems : [sentence("The answer contains no block.")];
    return worker.owed!.try >= MAX_TRIES ? failed(noUsableAnswer(run, problems), "no_answer") : [ended(problems)];
  }
  if (report.status === "timeout") {
    return [
      ended([]),
      {
        type: "worker:timeout",
        data: { ...about, error: report.error ?? sentence("the worker reported a timeout"), code: "reported_timeout" },
      },
    ];
  }
  if (report.status === "failed")
    return failed(report.error ?? report.summary ?? sentence("the worker reported a failure"), "reported_failure");
  const tools = addTools(worker.endedTools, over.toolStats);
  const changes =
    (over.work?.files.length ?? 0) + (over.work?.discarded?.length ?? 0) + (over.work?.outside?.length ?? 0);
  const worked = succeededTools(tools) > 0 || changes > 0;
  if (!worked && !run.template.config.acceptWithoutWork) {
    const error =
      tools.total === 0
        ? sentence("reported success, but called no tool and changed nothing")
        : sentence("reported success, but had no tool call that succeeded ({count} failed) and changed nothing", {
            count: tools.total,
          });
    return failed(error, "no_work");
  }
  if (over.work === null) return failed(sentence("the workspace could not be read"), "no_workspace");
  const { absent = [] } = over.work;
  if (absent.length > 0) {
    const problems = absent.map((path) => sentence("An expected output is missing: {path}", { path }));
    return worker.owed!.try >= MAX_TRIES ? failed(problems.join("; "), "missing_output") : [ended(problems)];
  }
  const unclear = reviewProblems(run, worker, over);
  if (unclear.length > 0) {
    const error = sentence("the review is not usable after {count} tries: {problems}", {
      count: MAX_TRIES,
      problems: unclear.join(" "),
    });
    return worker.owed!.try >= MAX_TRIES ? failed(error, "no_answer") : [ended(unclear)];
  }
  const faults = faultsOf(run, worker, over);
  if (faults.length > 0) return sendBack(run, worker, over, faults, { ended: ended([]), failed }, at);
  const outside = changedOutside(run, worker.taskId, worker.attempt, over.work.outside);
  const work = completion(worker, report, over.work, report.status === "partial");
  const submitted = submit(run, worker, over, work);
  if (submitted !== null) return [ended([]), ...outside, submitted];
  return [
    ended([]),
    ...outside,
    { type: "worker:completed", data: { ...about, ...work } },
    ...afterCompletion(run, worker, over),
  ];
}

/** Causes in `IN_ANOTHER_SESSION` end the session, not the task: another one can do the work. */
const IN_ANOTHER_SESSION: ReadonlySet<FailureCause> = new Set(["context", "stalled", "died"]);

interface WaysOut {
  /** Ends the turn without a result; the same prompt is sent again later. */
  again: RunEvent;
  failed: (error: string, code: string) => RunEvent[];
}

function breakOff(run: Run, worker: Worker, over: TurnOver, { again, failed }: WaysOut, at: number): RunEvent[] {
  const { ending, itemId } = over;
  const { agent } = worker.session;
  if (ending.cause === "usage_limit") return [again, ...park(run, agent, ending, itemId, at)];
  const wait = backOffAfter(run, worker.session, ending, at);
  if (wait !== null) return [again, wait];
  const advice = adviceOn(run, agent, ending);
  if (advice !== null) {
    // The next worker would fail in the same way, so the run is paused with the `advice`.
    const paused = PAUSABLE.has(run.status) ? pause(run, "provider", advice) : [];
    return [...failed(advice, ending.cause!), ...paused];
  }
  if (ending.cause && IN_ANOTHER_SESSION.has(ending.cause) && worker.losses + 1 < MAX_LOSSES) {
    const { sessionId, taskId } = worker;
    const data = { sessionId, orchestratorId: run.id, taskId, reason: ending.detail, counted: true };
    return [again, { type: "worker:lost", data }];
  }
  return failed(ending.detail, ending.cause ?? "turn_failed");
}

const describeDiscarded = (names: readonly string[]): string =>
  sentence("The role may only read, so its changes stay out of the result: {files}", {
    files: names.slice(0, 10).join(", "),
  });

function completion(
  { rework }: Worker,
  report: CompletionAnswer,
  work: NonNullable<TurnOver["work"]>,
  partial: boolean,
) {
  const output = report.output ?? report.summary ?? null;
  const discarded = work.discarded?.length ? [describeDiscarded(work.discarded)] : [];
  const warnings = [...(work.unproven ? describeUnproven(work.unproven) : []), ...discarded];
  const warned = warnings.length > 0 ? { warnings } : {};
  // With `rework`, the attempt started from the rejected work of an earlier one.
  const outputFiles = rework ? [...new Set([...rework.files, ...work.files])].sort() : work.files;
  return { output, outputFiles, report, commit: work.commit, partial, ...warned };
}
