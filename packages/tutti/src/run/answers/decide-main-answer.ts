// `decideMainAnswer`: an answer of the main session advances the run or is requested again.
import { noUsableAnswer, turnEnded } from "./end-turn.ts";
import { planReady, takeAnswer } from "./take-answer.ts";
import { askUser } from "../inbox/ask-user.ts";
import type { TurnOver } from "../command.ts";
import { fail } from "../consequences.ts";
import { addItem, withdrawQuestions } from "../inbox/inbox.ts";
import { askAboutConflicts, isRepairing } from "../rules/collisions.ts";
import { changedOutside } from "../rules/scope.ts";
import { failMain, loseMain } from "../rules/main-failure.ts";
import { MAX_TRIES } from "../rules/losses.ts";
import { awaitsSubSessions } from "../rules/natural.ts";
import { ANSWERS_OF_LEAD, askUserInstead, dutyOf, leadAnswer, takeLeadAnswer } from "../team/lead-duty.ts";
import { decideMainDelegation, planOfDelegations, questionIn } from "../team/decide-delegation.ts";
import { ownReport } from "../team/delegate.ts";
import { isLedByDelegation } from "../team/delegation.ts";
import { describeUnproven } from "../outcome/work-warnings.ts";
import { adviceOn, backOffAfter, holdForUser, park } from "../provider/provider.ts";
import { FAILURE_OPTIONS } from "../rules/retry.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { Phase } from "../../schema/status.ts";
import { addTools, succeededTools, type SessionState } from "../../schema/worker.ts";

/** The events that end the turn, with the problems of its answer. */
type EndTurn = (problems: string[], more?: { again?: boolean; waits?: boolean }) => RunEvent[];

export function decideMainAnswer(run: Run, main: SessionState, over: TurnOver, at: number): RunEvent[] {
  const { answer, ending } = over;
  const phase = main.turn!.phase;
  const ended: EndTurn = (problems, more) => [
    ...withdrawQuestions(run, main.sessionId),
    turnEnded(run, main, { taskId: null, over, problems, ...more }),
  ];

  if (isLedByDelegation(run) && (phase === "workerExecution" || phase === "taskPlanning"))
    return decideDelegation(run, main, over, ended, at);
  if (phase === "workerExecution") return decideLeadAnswer(run, main, over, ended, at);
  if (answer === null) {
    // A session with `pausedAt` gets the same prompt again after it is resumed.
    if (ending.kind === "interrupted" || main.pausedAt !== null) return ended([]);
    if (ending.kind !== "ended") return breakOff(run, main, over, ended, at);
    if (awaitsSubSessions(run)) return ended([], { waits: true });
    if (over.question !== null) return [...ended([]), askUser(run, null, main.sessionId, over, at)];
    const problems = over.problems.length > 0 ? over.problems : [sentence("The answer contains no block.")];
    if (run.owed!.try < MAX_TRIES) return ended(problems);
    if (isRepairing(run)) return [...ended(problems), ...askAboutConflicts(run, at)];
    const error = noUsableAnswer(run, problems);
    return [
      ...ended(problems),
      askForData(run, phase, error, over.itemId, at),
      fail(run, phase, error, "no_answer", at),
    ];
  }
  const { work, history, warnings } = over;
  const isUnproven = over.inWords === true && !hasWorked(run, over);
  const unproven = work?.unproven ? describeUnproven(work.unproven, { ofResult: true }) : [];
  const about = { head: work?.head ?? run.head!, history, warnings, isUnproven, unproven };
  const [outside] = changedOutside(run, null, main.attempt, work?.outside);
  if (!outside) return takeAnswer(run, answer, about, ended, at);
  // `takeAnswer` may complete the run, and its verdict depends on `outside`.
  const seen = { ...run, outside: [...(run.outside ?? []), outside.data] };
  return [outside, ...takeAnswer(seen, answer, about, ended, at)];
}

/** In `taskPlanning` the main session delegates the request, then it answers the tasks that return. */
function decideDelegation(run: Run, main: SessionState, over: TurnOver, ended: EndTurn, at: number): RunEvent[] {
  const isInterrupted = over.ending.kind === "interrupted" || main.pausedAt !== null;
  const stop = (): RunEvent[] => (isInterrupted ? ended([]) : breakOff(run, main, over, ended, at));
  const giveUp = (problems: string[]): RunEvent[] => {
    const isLast = run.owed!.try >= MAX_TRIES;
    if (!isLast) return ended(problems);
    const reason = noUsableAnswer(run, problems);
    return [...ended(problems), ...loseMain(run, main, { reason, code: "no_answer", limit: 1 }, at)];
  };
  const askAbout = (question: string): RunEvent => askUser(run, null, main.sessionId, { ...over, question }, at);
  const reportFailure = (error: string): RunEvent[] => failMain(run, "workerExecution", error, "reported_failure", at);
  if (main.turn!.phase === "workerExecution") {
    return decideMainDelegation(run, over, { ended, breakOff: stop, giveUp, askAbout, fail: reportFailure }, at);
  }
  const plan = planOfDelegations(run, over);
  if (!("problems" in plan)) return [...ended([]), ...planReady(run, plan, over.history, at)];
  if (over.ending.kind !== "ended") return stop();
  const report = ownReport(run, null, over);
  if (report?.body["result"] === "clarification_needed") return [...ended([]), askAbout(questionIn(report.body))];
  if (report?.body["result"] === "failure") return [...ended([]), ...reportFailure(questionIn(report.body))];
  return over.question === null ? giveUp(plan.problems) : [...ended([]), askAbout(over.question)];
}

/** `dutyOf` the lead may be null by now: the worker needs no answer any more. */
function decideLeadAnswer(run: Run, main: SessionState, over: TurnOver, ended: EndTurn, at: number): RunEvent[] {
  const duty = dutyOf(run);
  if (duty === null) return ended([]);
  const answer = leadAnswer(duty, over);
  if (answer !== null) return [...ended([]), ...takeLeadAnswer(run, answer, over.itemId, at)];
  if (over.ending.kind === "interrupted" || main.pausedAt !== null) return ended([]);
  if (over.ending.kind !== "ended") return breakOff(run, main, over, ended, at);
  if (over.question !== null) return [...ended([]), askUser(run, null, main.sessionId, over, at)];
  const rejected = (over.messages ?? []).flatMap(({ reasons }) => reasons);
  const expected = ANSWERS_OF_LEAD[duty.awaits.kind].join(" or ");
  const problems = rejected.length > 0 ? rejected : [`The answer contains no ${expected} for ${duty.worker.taskId}.`];
  const isLast = run.owed!.try >= MAX_TRIES;
  return isLast ? [...ended(problems), ...askUserInstead(run, over.itemId, at)] : ended(problems);
}

const hasWorked = (run: Run, { work, toolStats }: TurnOver): boolean =>
  succeededTools(addTools(run.toolStats, toolStats)) > 0 || (work?.files.length ?? 0) > 0;

function breakOff(run: Run, main: SessionState, over: TurnOver, ended: EndTurn, at: number): RunEvent[] {
  const { ending, itemId } = over;
  const { agent } = main;
  const again = ended([], { again: true });
  if (ending.cause === "usage_limit") return [...again, ...park(run, agent, ending, itemId, at)];
  const wait = backOffAfter(run, main, ending, at);
  if (wait !== null) return [...again, wait];
  const advice = adviceOn(run, agent, ending);
  if (advice !== null) return [...again, ...holdForUser(run, agent, advice, itemId, at)];
  return [...again, ...loseMain(run, main, { reason: ending.detail, code: ending.cause ?? "turn_failed" }, at)];
}

function askForData(run: Run, phase: Phase, error: string, itemId: string, at: number): RunEvent {
  const question = sentence("The {phase} phase got {error}. You can supply its data, or try it again.", {
    phase,
    error: error.replace(/\.+$/, ""),
  });
  return addItem(run, { id: itemId, kind: "data", question, phase, options: FAILURE_OPTIONS }, at);
}
