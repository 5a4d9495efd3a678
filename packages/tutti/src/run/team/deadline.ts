// The deadline of a role's task: when it has passed, the role is reminded; when as much time has passed again, the user
// decides (`followDeadlines`). The clock of a session that waits stands still, as for `workerTimeout`.
import { addItem, answered, withdraw } from "../inbox/inbox.ts";
import { cancelWorker } from "../lifecycle.ts";
import { timedWorkers, workerOf } from "../lookup.ts";
import { sendMessage } from "../rules/message.ts";
import { messageTo } from "./team.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { Worker } from "../../schema/worker.ts";

const DEADLINE_OPTIONS = [sentence("keep waiting"), sentence("cancel the task")];

interface TaskDeadline {
  at: number;
  /** When the user is asked. */
  escalateAt: number;
  /** Whether another role chose it. A later deadline with `isGiven` counts anew. */
  isGiven: boolean;
}

/** `POINT_IN_TIME` needs an offset, because local times differ between machines (V05). */
const POINT_IN_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

function timeOf(value: unknown): number | null {
  const time = typeof value === "string" && POINT_IN_TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

function deadlineOf(run: Run, { sessionId, startedAt, session, task }: TimedWorker): TaskDeadline | null {
  const message = messageTo(run, sessionId);
  // Only a `rejection` has a deadline of its own. That of an assignment is the template's, which the waits of the
  // session extend.
  const rejection = message?.type === "TASK_REJECTION" ? message.body["deadline"] : undefined;
  const given = timeOf(rejection) ?? timeOf(task.delegation?.message["deadlineHint"]);
  if (given !== null) {
    const length = Math.max(0, given - (message?.queuedAt ?? startedAt));
    return { at: given, escalateAt: given + length, isGiven: true };
  }
  const length = run.template.team?.deadline;
  if (length === undefined) return null;
  const at = startedAt + length + session.waitedMs;
  return { at, escalateAt: at + length, isGiven: false };
}

type TimedWorker = ReturnType<typeof timedWorkers>[number];

interface TimedTask {
  worker: Worker;
  deadline: TaskDeadline;
  /** Whether the role was reminded of this deadline. */
  isReminded: boolean;
}

function timedTasks(run: Run): TimedTask[] {
  if (run.template.roles === undefined) return [];
  return timedWorkers(run).flatMap((worker) => {
    const deadline = deadlineOf(run, worker);
    const { overdue } = worker;
    if (deadline === null) return [];
    const isReminded = overdue !== undefined && !(deadline.isGiven && deadline.at > overdue.deadline);
    return [{ worker, deadline, isReminded }];
  });
}

/** When each deadline has its next effect in `followDeadlines`. */
export const deadlineTimes = (run: Run): number[] =>
  timedTasks(run).flatMap(({ worker, deadline, isReminded }) => {
    if (!isReminded) return [deadline.at];
    return worker.overdue?.itemId === undefined ? [deadline.escalateAt] : [];
  });

/** Also withdraws the question about a task if its session has ended. */
export function followDeadlines(run: Run, at: number): RunEvent[] {
  if (run.template.roles === undefined) return [];
  const events = timedTasks(run).flatMap(({ worker, deadline, isReminded }) => {
    if (!isReminded) return at >= deadline.at ? remind(run, worker, deadline.at) : [];
    return worker.overdue?.itemId === undefined && at >= deadline.escalateAt ? escalateOverdue(run, worker, at) : [];
  });
  const isSettled = (item: InboxItem): boolean =>
    isOverdueItem(run, item) && workerOf(run, item.taskId!)!.session.state === "over";
  return [...events, ...withdraw(run, isSettled)];
}

function remind(run: Run, { taskId, sessionId }: Worker, deadline: number): RunEvent[] {
  const passed = `The deadline of your task passed at ${new Date(deadline).toISOString()}.`;
  const text = `${passed} Finish the task and report it now, or report why you cannot.`;
  return [
    { type: "task:overdue", data: { id: run.id, taskId, sessionId, deadline } },
    { type: "message:sent", data: { id: run.id, taskId, text, isReminder: true } },
  ];
}

function escalateOverdue(run: Run, { taskId, sessionId, task, overdue }: Worker, at: number): RunEvent[] {
  const deadline = overdue!.deadline;
  const since = new Date(deadline).toISOString();
  const description = sentence("Task {taskId} of {role} is overdue since {since} and goes on after a reminder.", {
    taskId,
    role: task.role ?? sentence("the team"),
    since,
  });
  const evidence = { blocker_type: "deadline", deadline: since, overdueMs: at - deadline };
  // The item has no `sessionId`, so that the session continues while the user decides.
  const item = { kind: "blocker" as const, taskId, question: description, options: DEADLINE_OPTIONS, evidence };
  const added = addItem(run, { ...item, risk: "medium" }, at);
  const { id: itemId } = added.data.item;
  const about = { description, blockerType: "deadline", severity: "high", cause: "deadline" as const };
  return [{ type: "blocker:raised", data: { id: run.id, taskId, sessionId, itemId, ...about } }, added];
}

export const isOverdueItem = (run: Run, { id, taskId }: InboxItem): boolean =>
  taskId !== null && workerOf(run, taskId)?.overdue?.itemId === id;

/** A decision that is none of `DEADLINE_OPTIONS` goes to the role as a message of the user. */
export function answerOverdue(run: Run, item: InboxItem, decision: string): RunEvent[] {
  const { sessionId } = workerOf(run, item.taskId!)!;
  const taskId = item.taskId!;
  const data = { id: run.id, taskId, itemId: item.id, decision, by: "human" };
  const settled: RunEvent[] = [answered(run, item, decision), { type: "blocker:resolved", data }];
  if (decision === DEADLINE_OPTIONS[0]) return settled;
  if (decision === DEADLINE_OPTIONS[1]) return [...settled, ...cancelWorker(run, sessionId)];
  return [...settled, ...sendMessage(run, { type: "message", taskId, text: decision })];
}
