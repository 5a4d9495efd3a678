// `decideAsParent` decides the answer of a session that delegates: new tasks, the verdict on a task that returned, and
// its own report. Invalid delegations change nothing; the session is asked again.
import { readPriority } from "../plan/plan.ts";
import { taskOf, workerOf } from "../lookup.ts";
import { taskStanding } from "../census.ts";
import { raiseBlocker } from "./blocker.ts";
import { childrenOf, findDepthProblem, openChildren, returnedTo, textOf, type Body } from "./delegation.ts";
import { extendPlan, listOf, noteOf, redelegate } from "./redelegate.ts";
import { rejectionLimit } from "./rework.ts";
import { leadOfRun, nameOf, protocolOf } from "./team.ts";
import { accept, actedOn, actedOnReport, countRejection, judgeCriteria, reasonsIn } from "./verdict.ts";
import type { ReadMessage, TurnOver } from "../command.ts";
import type { RunEvent } from "../../schema/event.ts";
import { RESERVED_TASK_IDS } from "../../schema/ids.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { PRIORITY_WORDS, TaskId, type Task } from "../../schema/task.ts";
import { leadOf, roleNamed } from "../../schema/team/roles.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";
import type { Worker } from "../../schema/worker.ts";

/** A parent may answer `MAX_ANSWERS` questions of one task. Further ones go to the user. */
const MAX_ANSWERS = 3;
const MAX_TITLE = 100;

interface ParentDecision {
  /** Why the answer cannot be used; then there are no `events`. */
  problems: string[];
  events: RunEvent[];
  /** Whether delegated tasks are still open. Then `report` is null. */
  waits: boolean;
  report: ReadMessage | null;
}

const countedIn = ({ messages = [] }: TurnOver): ReadMessage[] =>
  messages.filter(({ reasons }) => reasons.length === 0);

export const newTasksIn = (over: TurnOver): Body[] =>
  countedIn(over)
    .filter(({ type }) => type === "new_task")
    .map(({ body }) => body);

/** Returns null if no report of the turn is about the session's own task (`isOwn`). */
export const ownReport = (run: Run, parent: Worker | null, over: TurnOver): ReadMessage | null =>
  countedIn(over).findLast(({ type, body }) => type === "attempt_completion" && isOwn(run, parent, body)) ?? null;

/** The main session has no task, so any other id names the request. */
const isOwn = (run: Run, parent: Worker | null, { taskId }: Body): boolean =>
  parent ? taskId === parent.taskId : taskOf(run, textOf(taskId)) === undefined;

/** `parent` is null for the main session. */
export function decideAsParent(run: Run, parent: Worker | null, over: TurnOver, at: number): ParentDecision {
  const id = parent?.taskId ?? null;
  const returned = returnedTo(run, id);
  const messages = countedIn(over);
  const bodies = newTasksIn(over);
  const again = bodies.findLast(({ taskId }) => taskId === returned?.taskId);
  const retried = bodies.filter((body) => body !== again && isEndedChild(run, id, body));
  const fresh = bodies.filter(({ taskId }) => taskOf(run, textOf(taskId)) === undefined);
  const problems = [
    ...bodies
      .filter((body) => body["taskId"] !== returned?.taskId && !retried.includes(body) && !fresh.includes(body))
      .map(({ taskId }) => `Task ${textOf(taskId)} exists already. Give the new task another id.`),
    ...findTaskProblems(run, id, fresh),
    ...[...(again ? [again] : []), ...retried].flatMap((body) => findModeProblems(run, body)),
    ...retried.flatMap(({ taskId }) => findLimitProblems(run, textOf(taskId))),
  ];
  const settled = returned ? settle(run, parent, returned, { messages, again, itemId: over.itemId }, at) : NOTHING;
  problems.push(...settled.problems);
  const others = openChildren(run, id).filter(({ id: child }) => child !== returned?.taskId);
  const waits = fresh.length + retried.length + others.length > 0 || settled.isOpen;
  const own = ownReport(run, parent, over) ?? (parent === null && !waits ? settled.report : null);
  if (problems.length === 0 && !waits && returned && own === null)
    problems.push(
      "All delegated tasks have returned. Answer with an attempt_completion for your own task, or with another new_task.",
    );
  if (problems.length > 0) return { problems, events: [], waits, report: null };
  const events = [...settled.events];
  let changed = run.tasks;
  const follow = (more: RunEvent[]): void => {
    for (const event of more) if (event.type === "plan:extended") changed = event.data.tasks;
  };
  follow(events);
  for (const body of retried) {
    const change = { message: body, isRejected: true, session: parent?.sessionId ?? null };
    const more = redelegate({ ...run, tasks: changed }, textOf(body["taskId"]), change);
    follow(more);
    events.push(...more);
  }
  const added = fresh.map((body) => toTask(run, parent, body, over.work?.commit));
  return {
    problems,
    events: added.length > 0 ? [...events, extendPlan(run, changed, added)] : events,
    waits,
    report: waits ? null : own,
  };
}

const isEndedChild = (run: Run, parent: string | null, { taskId }: Body): boolean =>
  childrenOf(run, parent).some(({ id }) => id === taskId) &&
  ["failed", "timeout", "cancelled", "blocked"].includes(taskStanding(run, textOf(taskId)));

/** Returns sentences about new tasks that cannot be delegated. */
export function findTaskProblems(run: Run, parent: string | null, bodies: readonly Body[]): string[] {
  const { maxTasks } = run.template.phases.taskPlanning.validation;
  const ids = bodies.map(({ taskId }) => textOf(taskId));
  const problems = bodies.flatMap((body, index) => {
    const id = ids[index]!;
    const isUsable = TaskId.safeParse(id).success && !RESERVED_TASK_IDS.has(id) && !(id in Object.prototype);
    return [
      ...(isUsable ? [] : [`${JSON.stringify(id.slice(0, 120))} cannot be used as a taskId.`]),
      ...(ids.indexOf(id) === index ? [] : [`The taskId ${id} is used twice.`]),
      ...(textOf(body["objective"]).trim() === "" ? [`Task ${id} has no objective.`] : []),
      ...findModeProblems(run, body),
    ];
  });
  if (run.tasks.length + bodies.length > maxTasks && bodies.length > 0)
    problems.push(`The run may have at most ${maxTasks} tasks.`);
  const tooDeep = bodies.length > 0 ? findDepthProblem(run, parent) : null;
  return tooDeep === null ? problems : [...problems, tooDeep];
}

function findModeProblems(run: Run, { taskId, delegatedToMode: mode }: Body): string[] {
  const { roles } = run.template;
  // Without `roles`, the mode only describes the task.
  if (!roles) return [];
  const name = roleNamed(roles, textOf(mode));
  if (name !== undefined && name !== leadOf(roles)) return [];
  const known = Object.keys(roles).filter((each) => each !== leadOf(roles));
  return [`Task ${textOf(taskId)} names the mode ${JSON.stringify(mode)}. The modes are: ${known.join(", ")}.`];
}

const findLimitProblems = (run: Run, taskId: string): string[] => {
  const limit = rejectionLimit(run);
  const isSpent = (taskOf(run, taskId)?.delegation?.rejections ?? 0) >= limit;
  return isSpent
    ? [`Task ${taskId} was delegated again ${limit} times already. Report, or delegate another task.`]
    : [];
};

/** `body` is a `new_task` message, `start` the saved work of the session that delegates it. */
export function toTask(run: Run, parent: Worker | null, body: Body, start: string | undefined): Task {
  const objective = textOf(body["objective"]);
  const [title = ""] = objective.trim().split("\n");
  return {
    id: textOf(body["taskId"]),
    title: title.slice(0, MAX_TITLE),
    description: objective,
    scope: [],
    priority: priorityOf(body["priority"]),
    dependencies: [],
    ...(run.template.roles ? { role: roleNamed(run.template.roles, textOf(body["delegatedToMode"]))! } : {}),
    ...listOf("requirements", body["constraintsAndRules"]),
    ...listOf("acceptanceCriteria", body["acceptanceCriteria"]),
    delegation: {
      parent: parent?.taskId ?? null,
      session: parent?.sessionId ?? null,
      message: body,
      ...(parent && start !== undefined ? { start } : {}),
      rejections: 0,
      notes: [],
      answers: 0,
    },
  };
}

function priorityOf(priority: unknown): number {
  const word = textOf(priority).toLowerCase();
  if (Object.hasOwn(PRIORITY_WORDS, word)) return readPriority(word as keyof typeof PRIORITY_WORDS);
  return readPriority(typeof priority === "number" ? priority : undefined);
}

interface Settlement {
  problems: string[];
  events: RunEvent[];
  /** Whether the returned task continues. */
  isOpen: boolean;
  /** A report of the main session about its only open task is also its own. */
  report: ReadMessage | null;
}

const NOTHING: Settlement = { problems: [], events: [], isOpen: false, report: null };

interface GivenAnswer {
  messages: readonly ReadMessage[];
  /** The new delegation of the returned task. */
  again: Body | undefined;
  itemId: string;
}

/** Decides the consequences of the turn for the task in `returned`. */
function settle(run: Run, parent: Worker | null, returned: TeamMessage, given: GivenAnswer, at: number): Settlement {
  const { taskId, id: messageId } = returned;
  const { messages, again, itemId } = given;
  const by = parent ? nameOf(parent.task) : leadOfRun(run)!;
  const answered: RunEvent[] = [
    { type: "lead:answered", data: { id: run.id, taskId, messageId, ...(parent ? { parent: parent.taskId } : {}) } },
    ...actedOn(run, taskId, messageId),
  ];
  const worker = workerOf(run, taskId);
  const awaits = worker?.sessionId === returned.sessionId ? worker.awaits : null;
  const about = messages.findLast(({ type, body }) => type === "attempt_completion" && body["taskId"] === taskId);
  if (!worker || !awaits) {
    const isEnded = worker !== undefined && worker.sessionId === returned.sessionId;
    if (!again) return { ...NOTHING, events: answered };
    if (!isEnded) return { ...NOTHING, problems: [`Task ${taskId} cannot be delegated again.`] };
    const problems = findLimitProblems(run, taskId);
    const events = [...answered, ...redelegate(run, taskId, { message: again, isRejected: true })];
    return { ...NOTHING, problems, events, isOpen: true };
  }
  const hasMessages = hasOwnMessages(run, worker);
  if (awaits.kind === "resolution") {
    const answer = again ? textOf(again["context"]) : answerIn(about);
    const isAnswered = (again !== undefined || answer !== "") && worker.task.delegation!.answers < MAX_ANSWERS;
    if (!isAnswered) {
      const raised = raiseBlocker(run, worker, awaits.body, { messageId, itemId }, at);
      return { ...NOTHING, events: [...answered, ...raised], isOpen: true };
    }
    const resolved = { id: run.id, taskId, itemId: null, decision: answer, by };
    const note = again ? undefined : noteOf(awaits.body, answer);
    const events: RunEvent[] = [
      ...answered,
      ...(hasMessages ? actedOnReport(run, worker) : []),
      { type: "blocker:resolved", data: resolved },
      ...redelegate(run, taskId, { message: again, note, isAnswer: true }),
    ];
    return { ...NOTHING, events, isOpen: true };
  }
  const verdict = messages.findLast(({ type }) => type === "TASK_APPROVAL" || type === "TASK_REJECTION");
  const met = criteriaIn(messages);
  const unmet = (worker.task.acceptanceCriteria ?? []).filter((_, index) => met?.[index] === false);
  const isRejected = again !== undefined || verdict?.type === "TASK_REJECTION" || unmet.length > 0;
  const isAccepted = messages.some(({ type, body }) => type !== "attempt_completion" || isUsable(body));
  if (!isRejected && !isAccepted) {
    const ways = `a TASK_APPROVAL with "task_id", a new_task with the same taskId, or your own attempt_completion`;
    return { ...NOTHING, problems: [`Answer for ${taskId}: ${ways}.`] };
  }
  if (!isRejected) {
    const accepted = accept(run, worker, { by, met: met ?? undefined, hasMessages }, at);
    return { ...NOTHING, events: [...answered, ...accepted], report: about ?? null };
  }
  const reasons = unmet.length > 0 ? unmet.map((criterion) => `Not met: ${criterion}`) : reasonsIn(verdict?.body ?? {});
  const judged = judgeCriteria(run, worker, met ?? [], by);
  const first = [...answered, ...judged, ...(hasMessages ? actedOnReport(run, worker) : [])];
  return { ...NOTHING, ...reject(run, worker, again, reasons, first, by) };
}

/** Whether the session also has an assignment and reports in the protocol of document 001 or 003. */
const hasOwnMessages = (run: Run, { task }: Worker): boolean =>
  ["messages", "mailbox", "tools"].includes(protocolOf(run, task));

const isUsable = ({ result }: Body): boolean => result !== "clarification_provided";

/** A parent may answer a question without a new delegation, with the result `clarification_provided`. */
const answerIn = (about: ReadMessage | undefined): string =>
  about?.body["result"] === "clarification_provided" ? textOf(about.body["summary"]) : "";

function criteriaIn(messages: readonly ReadMessage[]): unknown[] | null {
  const lists = messages.map(({ body }) => body["acceptanceCriteriaMet"] ?? body["acceptance_criteria_met"]);
  return lists.findLast((list): list is unknown[] => Array.isArray(list)) ?? null;
}

/** The next attempt starts from the rejected work. After `rejectionLimit` rejections the task fails. */
export function reject(
  run: Run,
  worker: Worker,
  again: Body | undefined,
  reasons: string[],
  first: RunEvent[],
  by: string,
): { events: RunEvent[]; isOpen: boolean } {
  const { taskId, task, awaits } = worker;
  const why = reasons.length > 0 ? reasons : [textOf(again?.["context"]) || sentence("The result is not good enough.")];
  const rejected = countRejection(run, worker, { by, reasons: why, earlier: task.delegation?.rejections ?? 0 });
  if (rejected.type === "worker:failed") return { events: [...first, rejected], isOpen: false };
  const note = again ? undefined : `Your last result was not accepted:\n${why.map((each) => `- ${each}`).join("\n")}`;
  const change = { message: again, note, isRejected: true, start: awaits?.work?.commit };
  return { events: [...first, rejected, ...redelegate(run, taskId, change)], isOpen: true };
}
