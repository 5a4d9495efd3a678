// The turns of sessions that speak `delegation` (document 002): a worker reports, asks, or delegates further; the main
// session delegates the request and answers every task that returns.
import { escalate } from "./blocker.ts";
import { decideAsParent, findTaskProblems, newTasksIn, ownReport, toTask } from "./delegate.ts";
import { isDelegated, returnedTo, speaksDelegation, textOf, type Body } from "./delegation.ts";
import { extendPlan } from "./redelegate.ts";
import { messageTo, nameOf, parentRole, queueMessage } from "./team.ts";
import { actedOn } from "./verdict.ts";
import type { ReadMessage, TurnOver } from "../command.ts";
import { planErrors } from "../plan/graph.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { mediatorOf } from "../../schema/team/roles.ts";
import type { Worker } from "../../schema/worker.ts";

interface WorkerWays {
  ended: (problems: string[]) => RunEvent;
  failed: (error: string, code: string) => RunEvent[];
  /** Judges the turn like that of any other worker. */
  goOn: () => RunEvent[];
  /** Whether `problems` of the answer end the task. */
  isLastTry: boolean;
}

export function decideDelegatedTurn(
  run: Run,
  worker: Worker,
  over: TurnOver,
  ways: WorkerWays,
  at: number,
): RunEvent[] {
  const refused = recordRefused(run, worker, over);
  const hasAnswered = newTasksIn(over).length > 0 || ownReport(run, worker, over) !== null;
  const hasEnded = over.ending.kind === "ended" && over.question === null;
  const mustAnswer = speaksDelegation(run, worker) && worker.duty && hasEnded;
  if (!hasAnswered && !mustAnswer) return [...refused, ...ways.goOn()];
  const { problems, events, waits, report } = decideAsParent(run, worker, over, at);
  if (problems.length > 0) {
    const error = sentence("no usable answer: {problems}", { problems: problems.join(" ") });
    return [...refused, ...(ways.isLastTry ? ways.failed(error, "no_answer") : [ways.ended(problems)])];
  }
  const { taskId, sessionId } = worker;
  if (waits) {
    const waiting: RunEvent = { type: "task:delegating", data: { id: run.id, sessionId, taskId } };
    return [...refused, ways.ended([]), ...events, waiting];
  }
  if (report === null) return [...refused, ...events, ...ways.goOn()];
  const { body } = report;
  const first = [...refused, ...events, ...assignmentDone(run, worker)];
  switch (body["result"]) {
    case "clarification_needed": {
      const { recorded, messageId } = recordReport(run, worker, body);
      const blocker = {
        ...body,
        description: questionIn(body),
        blocker_type: "clarification_needed",
        severity: "medium",
      };
      const raised = escalate(run, worker, blocker, { messageId, itemId: over.itemId }, at);
      return [...first, recorded, ways.ended([]), ...raised];
    }
    case "conflict_detected":
      return [...first, ...ways.failed(questionIn(body), "conflict"), ...askMediator(run, worker, body)];
    default: {
      const isReported = speaksDelegation(run, worker) || isDelegated(run, worker.task);
      return [...first, ...(isReported ? [recordReport(run, worker, body).recorded] : []), ...ways.goOn()];
    }
  }
}

/** The `issues_encountered` of the report, else its summary. */
export function questionIn(body: Body): string {
  const issues = Array.isArray(body["issues_encountered"]) ? (body["issues_encountered"] as Body[]) : [];
  const described = issues.map((issue) => textOf(issue["description"])).filter((text) => text !== "");
  return described.join("\n") || textOf(body["summary"]) || "The report has no summary.";
}

/** The parent receives the report with its next turn, because `queueMessage` only records it. */
function recordReport(run: Run, worker: Worker, body: Body, to = parentRole(run, worker.task)) {
  const { taskId, sessionId, task } = worker;
  const message = { type: "attempt_completion", protocol: "delegation", from: nameOf(task), to, taskId, sessionId };
  const recorded = queueMessage(run, { ...message, body }, REPORT_INDEX);
  const { id: messageId } = recorded.data.message;
  return { recorded, messageId };
}

/** `recordRefused` numbers messages from 0, so `REPORT_INDEX` gives the report another id. */
const REPORT_INDEX = 1000;

/** Equal to the `messageId` of `recordReport`. */
export function reportId(run: Run, worker: Worker, over: TurnOver): string | null {
  const report = ownReport(run, worker, over);
  return report && recordReport(run, worker, report.body).messageId;
}

const assignmentDone = (run: Run, { taskId, sessionId }: Worker): RunEvent[] => {
  const assignment = messageTo(run, sessionId);
  return assignment?.actedAt === null ? actedOn(run, taskId, assignment.id) : [];
};

function recordRefused(run: Run, { taskId, sessionId, task }: Worker, over: TurnOver): RunEvent[] {
  const refused = (over.messages ?? []).filter(({ reasons }) => reasons.length > 0);
  return refused.flatMap(({ type, body, reasons }, index): RunEvent[] => {
    const message = { type, protocol: "delegation", from: nameOf(task), to: parentRole(run, task), taskId, sessionId };
    const queued = queueMessage(run, { ...message, body }, index);
    const { id: messageId } = queued.data.message;
    return [queued, { type: "message:rejected", data: { id: run.id, messageId, taskId, reasons } }];
  });
}

/**
 * A mediator settles the conflict, and the parent receives the mediator's result. Without a `mediatorOf` the team, the
 * parent is asked.
 */
function askMediator(run: Run, worker: Worker, body: Body): RunEvent[] {
  const { task, taskId } = worker;
  const mediator = mediatorOf(run.template.roles ?? {});
  if (mediator === undefined || task.role === mediator || !isDelegated(run, task))
    return [recordReport(run, worker, body).recorded];
  const { recorded, messageId } = recordReport(run, worker, body, mediator);
  const rounds = run.tasks.filter(({ id }) => id.startsWith(`MED-${taskId}-`)).length;
  const message = {
    taskId: `MED-${taskId}-${rounds + 1}`.slice(-MAX_ID),
    delegatedToMode: mediator,
    objective: `Settle the conflict that stops ${taskId}: ${questionIn(body)}`,
    context: `${task.role} worked on "${task.title}" and reported: ${textOf(body["summary"])}`,
    priority: "high",
  };
  const { parent, session } = task.delegation!;
  const added = toTask(run, null, message, undefined);
  const mediation = { ...added, delegation: { ...added.delegation!, parent, session } };
  return [recorded, ...actedOn(run, taskId, messageId), extendPlan(run, run.tasks, [mediation])];
}

const MAX_ID = 100;

/** The first delegations of the main session are the plan that the user confirms. */
export function planOfDelegations(run: Run, over: TurnOver): Plan | { problems: string[] } {
  const bodies = newTasksIn(over);
  const refused = (over.messages ?? []).flatMap(({ reasons }) => reasons);
  const problems = findTaskProblems(run, null, bodies);
  if (bodies.length === 0)
    return { problems: refused.length > 0 ? refused : ["The answer contains no new_task message. Delegate the work."] };
  if (problems.length > 0) return { problems };
  const tasks = bodies.map((body) => toTask(run, null, body, undefined));
  return { tasks, errors: planErrors(tasks), warnings: [], executionOrder: null };
}

interface MainWays {
  ended: (problems: string[]) => RunEvent[];
  /** The turn ended without an answer that counts. */
  breakOff: () => RunEvent[];
  giveUp: (problems: string[]) => RunEvent[];
  askAbout: (question: string) => RunEvent;
  fail: (error: string) => RunEvent[];
}

export function decideMainDelegation(run: Run, over: TurnOver, ways: MainWays, at: number): RunEvent[] {
  if (returnedTo(run, null) === null) return [...ways.ended([]), ...dropAnswer(run)];
  const hasAnswered = (over.messages ?? []).some(({ reasons }) => reasons.length === 0);
  if (!hasAnswered && over.ending.kind !== "ended") return ways.breakOff();
  if (!hasAnswered && over.question !== null) return [...ways.ended([]), ways.askAbout(over.question)];
  const own = ownReport(run, null, over);
  const { problems, events, waits, report } = decideAsParent(run, null, over, at);
  if (!waits && own?.body["result"] === "clarification_needed" && problems.length === 0)
    return [...ways.ended([]), ways.askAbout(questionIn(own.body))];
  if (problems.length > 0) return ways.giveUp(problems);
  if (report === null) return [...ways.ended([]), ...events];
  const summary = textOf(report.body["summary"]);
  // `ways.fail` ends every session, so the task that returned is not accepted before.
  if (!isSuccess(report)) return [...ways.ended([]), ...ways.fail(questionIn(report.body))];
  const completed: RunEvent = { type: "lead:completed", data: { id: run.id, summary, body: report.body } };
  return [...ways.ended([]), ...events, completed];
}

/** The message that the turn was about no longer exists, so the `duty` ends without an answer. */
const dropAnswer = (run: Run): RunEvent[] =>
  run.duty
    ? [{ type: "lead:answered", data: { id: run.id, taskId: run.duty.taskId, messageId: run.duty.messageId ?? "" } }]
    : [];

const isSuccess = ({ body }: ReadMessage): boolean => body["result"] === "success";
