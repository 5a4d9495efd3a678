// Delegated tasks (document 002): which session waits for them, and which results have not reached it yet
// (`returnsTo`). The queue is the list of messages: each ended task has one `attempt_completion` to its parent, which
// is acted on once.
import { activeWorkers, taskOf, workerOf } from "../lookup.ts";
import { taskStanding } from "../census.ts";
import { leadOfRun, nameOf, parentRole, protocolOf, queueMessage, roleOf } from "./team.ts";
import { outlineOf } from "../plan/outline.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { DelegationRight, Task } from "../../schema/task.ts";
import { workingRoles } from "../../schema/team/roles.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";
import type { Worker } from "../../schema/worker.ts";

export type Body = Record<string, unknown>;

/** Whether the role of `leadOfRun` plans and follows the work by delegating it. */
export const isLedByDelegation = (run: Run): boolean =>
  roleOf(run, { role: leadOfRun(run) ?? undefined })?.protocol === "delegation";

/** In a team any role may delegate. In other runs a worker may do so with a tool, which `hasDelegatedTasks` shows. */
export const hasDelegations = (run: Run): boolean =>
  run.template.roles !== undefined || outlineOf(run).hasDelegatedTasks;

export const speaksDelegation = (run: Run, { task }: Worker): boolean => roleOf(run, task)?.protocol === "delegation";

/** Whether a session receives the result of the task: its parent, or the main session if it `isLedByDelegation`. */
export const isDelegated = (run: Run, { delegation }: Task): boolean =>
  delegation !== undefined && (delegation.parent !== null || isLedByDelegation(run));

/** A worker that `isDelegating` takes no slot. */
export const isDelegating = ({ delegating }: Worker): boolean => delegating != null;

/** A null `parent` is the main session. */
export const childrenOf = (run: Run, parent: string | null): readonly Task[] =>
  hasDelegations(run) ? run.tasks.filter(({ delegation }) => delegation?.parent === parent) : [];

const isOver = (run: Run, taskId: string): boolean => !["active", "neverStarted"].includes(taskStanding(run, taskId));

/** Whether the task `awaits` an answer of its parent, or has ended without a result. */
const hasReturned = (run: Run, task: Task): boolean =>
  workerOf(run, task.id)?.awaits != null || (isOver(run, task.id) && taskStanding(run, task.id) !== "completed");

const sessionOf = (run: Run, taskId: string): string => workerOf(run, taskId)?.sessionId ?? "";

/** Only the newest attempt counts (`sessionOf`). */
const reportOf = (run: Run, taskId: string): TeamMessage | undefined =>
  (run.teamMessages ?? []).findLast(
    (each) =>
      each.type === "attempt_completion" &&
      each.state !== "rejected" &&
      each.taskId === taskId &&
      each.sessionId === sessionOf(run, taskId),
  );

/** Reports that `parent` has not answered yet, oldest first. */
function returnsTo(run: Run, parent: string | null): TeamMessage[] {
  return childrenOf(run, parent)
    .flatMap((task) => (hasReturned(run, task) ? (reportOf(run, task.id) ?? []) : []))
    .filter(({ actedAt, to }) => actedAt === null && to !== "")
    .toSorted((a, b) => a.queuedAt - b.queuedAt);
}

/** Delegated tasks of `parent` that have not ended, or whose ending it has not answered (`returnsTo`). */
export const openChildren = (run: Run, parent: string | null): Task[] => {
  const returned = new Set(returnsTo(run, parent).map(({ taskId }) => taskId));
  return childrenOf(run, parent).filter(
    (task) => !isOver(run, task.id) || returned.has(task.id) || isUnreported(run, task),
  );
};

/** Whether the task has ended, and `returnEndings` has to report it: a paused run does that when it is resumed. */
const isUnreported = (run: Run, task: Task): boolean =>
  isDelegated(run, task) && hasReturned(run, task) && hasParent(run, task) && !reportOf(run, task.id);

/** Whether the session that delegated the task still works on its own one. */
function hasParent(run: Run, { delegation }: Task): boolean {
  if (!delegation || delegation.parent === null) return delegation !== undefined;
  const parent = workerOf(run, delegation.parent);
  return parent?.sessionId === delegation.session && parent.session.state !== "over";
}

/** Every ending of a delegated task returns to its parent. If its session sent no report, `facts` become one. */
export function returnEndings(run: Run, at: number): RunEvent[] {
  const unreported = run.tasks.filter((task) => isUnreported(run, task));
  return unreported.map((task, index) => {
    const { id: taskId } = task;
    const body = { taskId, ...facts(run, task), issues_encountered: [], timestamp: new Date(at).toISOString() };
    const to = parentRole(run, task);
    const message = { type: "attempt_completion", protocol: "delegation", from: nameOf(task), to, taskId };
    return queueMessage(run, { ...message, sessionId: sessionOf(run, taskId), body }, index);
  });
}

function facts(run: Run, { id }: Task): { result: string; summary: string; outputArtifacts?: { path: string }[] } {
  const worker = workerOf(run, id);
  const awaits = worker?.awaits;
  if (awaits?.kind === "verdict") {
    const outputArtifacts = awaits.work!.outputFiles.map((path) => ({ type: "file", path }));
    return { result: "success", summary: awaits.work!.report.summary ?? "", outputArtifacts };
  }
  if (awaits) return { result: "clarification_needed", summary: textOf(awaits.body["description"]) };
  return { result: "failure", summary: reasonOf(run, id) };
}

export function reasonOf(run: Run, taskId: string): string {
  const { error = null } = workerOf(run, taskId) ?? {};
  switch (taskStanding(run, taskId)) {
    case "skipped":
      return "The user skipped this task.";
    case "cancelled":
      return "The task was cancelled.";
    case "timeout":
      return `The task timed out: ${error}`;
    case "blocked":
      return "The task could not be started.";
    default:
      return error ?? "The task failed.";
  }
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A delegated task ends if its parent has ended or has lost its session (`hasParent`). */
export function endOrphans(run: Run): RunEvent[] {
  const orphans = run.tasks.filter((task) => task.delegation && !isOver(run, task.id) && !hasParent(run, task));
  return orphans.map(({ id: taskId }): RunEvent => {
    const worker = workerOf(run, taskId);
    return worker && worker.session.state !== "over"
      ? { type: "worker:cancelled", data: { sessionId: worker.sessionId, orchestratorId: run.id, taskId } }
      : { type: "task:blocked", data: { id: run.id, taskId, because: [] } };
  });
}

/**
 * Gives every free parent the oldest of `returnsTo`, one at a time. A worker that waited for its tasks had left its
 * slot to them, so it continues when one is free.
 */
export function askParents(run: Run): RunEvent[] {
  const asked: RunEvent[] = [];
  const { parallelExecution, maxWorkers } = run.template.config;
  const active = activeWorkers(run);
  // A delegated task that `awaits` its parent ends or gets a new attempt. Any other one continues after its verdict.
  const leavesSlot = (each: Worker): boolean =>
    isDelegating(each) || (each.awaits != null && isDelegated(run, each.task));
  let free = (parallelExecution ? maxWorkers : 1) - active.filter((each) => !leavesSlot(each)).length;
  const ask = (parent: string | null): void => {
    const [report] = returnsTo(run, parent);
    if (!report) return;
    if (parent !== null && free-- <= 0) return;
    const { taskId, sessionId, id: messageId } = report;
    const data = { id: run.id, taskId, sessionId, messageId, ...(parent === null ? {} : { parent }) };
    asked.push({ type: "lead:asked", data });
  };
  if (isLedByDelegation(run) && run.owed === null && run.main?.turn == null) ask(null);
  for (const worker of active) if (isDelegating(worker)) ask(worker.taskId);
  return asked;
}

/** The report that the `duty` of the session is about. A null `parent` is the main session. */
export function returnedTo(run: Run, parent: string | null): TeamMessage | null {
  const duty = parent === null ? run.duty : workerOf(run, parent)?.duty;
  if (!duty) return null;
  return (run.teamMessages ?? []).find(({ id }) => id === duty.messageId) ?? null;
}

/** The new turn of the session contains `returnedTo` it, which is delivered once. */
export function deliverReturned(run: Run, parent: string | null): RunEvent[] {
  const report = returnedTo(run, parent);
  if (report?.state !== "queued") return [];
  return [{ type: "message:delivered", data: { id: run.id, messageId: report.id, taskId: report.taskId } }];
}

/** Returns 1 for a task of the main session. */
function depthOf(run: Run, parent: string | null): number {
  let depth = 1;
  for (let id = parent; id !== null; id = taskOf(run, id)?.delegation?.parent ?? null) depth++;
  return depth;
}

/**
 * `DEFAULT_DEPTH` is the number of levels below the tasks of the main session, unless `budget.depth` says otherwise.
 */
const DEFAULT_DEPTH = 4;

/** Returns null if the session of `parent` may delegate further. */
export function findDepthProblem(run: Run, parent: string | null): string | null {
  const depth = run.budget.depth ?? DEFAULT_DEPTH;
  if (parent === null || depthOf(run, parent) - 1 <= depth) return null;
  return `Tasks may not be delegated more than ${depth + 1} levels deep. Do this part yourself.`;
}

/** A null `worker` is the main session. */
export function delegationRight(run: Run, worker: Pick<Worker, "taskId" | "task"> | null): DelegationRight {
  const modes = workingRoles(run.template.roles ?? {});
  if (worker === null)
    return isLedByDelegation(run)
      ? { modes }
      : { refusal: "In this run only workers can delegate. Plan the work as tasks; Tutti assigns them to workers." };
  const protocol = protocolOf(run, worker.task);
  if (protocol !== "delegation" && protocol !== "response")
    return {
      refusal: `${worker.task.role} works only on the tasks that it is assigned. Do this part yourself, or use escalate_blocker.`,
    };
  const refusal = findDepthProblem(run, worker.taskId);
  return refusal === null ? { modes } : { refusal };
}
