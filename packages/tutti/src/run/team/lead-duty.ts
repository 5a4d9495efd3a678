// The main session of a team leads it: it gives a verdict on every completion, and answers the blockers that document
// 003 leaves to the orchestrator (`askLead`). Each is a turn of its own. If it gives no usable answer, the user decides
// (`askUserInstead`).
import { activeWorkers, workerOf } from "../lookup.ts";
import { addItem, answered } from "../inbox/inbox.ts";
import { raiseBlocker } from "./blocker.ts";
import { reject as sendBackToMode } from "./delegate.ts";
import { speaksDelegation } from "./delegation.ts";
import { listOf, noteOf, redelegate } from "./redelegate.ts";
import { leadOfRun, queueMessage, rejection } from "./team.ts";
import { accept, actedOn, actedOnReport, countRejection, judgeCriteria, reasonsIn } from "./verdict.ts";
import type { ReadMessage, TurnOver } from "../command.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { LeadDuty, Worker } from "../../schema/worker.ts";

/** Asks the main session about the worker that has waited longest (`awaits.since`), once it owes nothing else. */
export function askLead(run: Run): RunEvent[] {
  if (run.owed !== null || run.main?.turn != null) return [];
  // A worker answers the tasks that it delegated (`parent`) itself.
  const waiting = activeWorkers(run).filter(
    ({ awaits, task }) => awaits && awaits.itemId === undefined && task.delegation?.parent == null,
  );
  const [next] = waiting.toSorted((a, b) => a.awaits!.since - b.awaits!.since);
  if (!next) return [];
  const { taskId, sessionId, awaits } = next;
  const about = { id: run.id, taskId, messageId: awaits!.messageId };
  return [{ type: "lead:asked", data: { ...about, sessionId } }];
}

/** Returns null if the worker of `run.duty` no longer `awaits` an answer. */
export function dutyOf(run: Run): { worker: Worker; awaits: LeadDuty } | null {
  const worker = run.duty ? workerOf(run, run.duty.taskId) : undefined;
  return worker?.awaits ? { worker, awaits: worker.awaits } : null;
}

export const ANSWERS_OF_LEAD: Record<LeadDuty["kind"], readonly string[]> = {
  verdict: ["TASK_APPROVAL", "TASK_REJECTION"],
  resolution: ["BLOCKER_RESOLUTION", "BLOCKER_ESCALATION"],
};

/** Returns null if the turn has none of `ANSWERS_OF_LEAD`. */
export const leadAnswer = ({ awaits }: { awaits: LeadDuty }, { messages = [] }: TurnOver): ReadMessage | null =>
  messages.findLast(({ type, reasons }) => reasons.length === 0 && ANSWERS_OF_LEAD[awaits.kind].includes(type)) ?? null;

const leadAnswered = (run: Run, { taskId }: Worker, { messageId }: LeadDuty): RunEvent => ({
  type: "lead:answered",
  data: { id: run.id, taskId, messageId },
});

export function takeLeadAnswer(run: Run, answer: ReadMessage, itemId: string, at: number): RunEvent[] {
  const { worker, awaits } = dutyOf(run)!;
  const lead = leadOfRun(run)!;
  const done = leadAnswered(run, worker, awaits);
  switch (answer.type) {
    case "TASK_APPROVAL": {
      const issues = unmetCriteria(worker, answer.body);
      if (issues.length === 0) return [done, ...accept(run, worker, { by: lead, hasMessages: true }, at)];
      return [done, ...reject(run, worker, { by: lead, given: { ...answer.body, issues } }, at)];
    }
    case "TASK_REJECTION":
      return [done, ...reject(run, worker, { by: lead, given: answer.body }, at)];
    case "BLOCKER_ESCALATION":
      return [done, ...raiseBlocker(run, worker, awaits.body, { messageId: awaits.messageId, itemId }, at)];
    default:
      return [done, ...resolve(run, worker, answer.body, at)];
  }
}

/** An approval that says of a criterion that it is not met rejects the work. */
function unmetCriteria({ task }: Worker, { acceptance_criteria_met: met }: Record<string, unknown>): string[] {
  const verdicts = Array.isArray(met) ? met : [];
  return (task.acceptanceCriteria ?? [])
    .filter((_, index) => verdicts[index] === false)
    .map((criterion) => sentence("Criterion not met: {criterion}", { criterion }));
}

/** After `MAX_TRIES` turns without a usable answer of the main session. */
export function askUserInstead(run: Run, itemId: string, at: number): RunEvent[] {
  const { worker, awaits } = dutyOf(run)!;
  const { taskId, sessionId, task } = worker;
  const done = leadAnswered(run, worker, awaits);
  if (awaits.kind === "resolution")
    return [done, ...raiseBlocker(run, worker, awaits.body, { messageId: awaits.messageId, itemId }, at)];
  const question = sentence(
    "{lead} gave no verdict on {taskId} ({title}). Approve the work, or reject it with a reason.",
    { lead: String(leadOfRun(run)), taskId, title: task.title },
  );
  const { acceptanceCriteria = [] } = task;
  const evidence = { completion: awaits.body, acceptanceCriteria, files: awaits.work?.outputFiles };
  const item = {
    id: itemId,
    kind: "validation" as const,
    taskId,
    sessionId,
    question,
    options: VERDICT_OPTIONS,
    evidence,
  };
  return [addItem(run, { ...item, risk: "medium" }, at), done];
}

export const VERDICT_OPTIONS = [sentence("approve it"), sentence("reject it")];

/** `reason` is why the user rejected the work. */
export function giveVerdict(run: Run, item: InboxItem, isApproved: boolean, reason: string, at: number): RunEvent[] {
  const worker = workerOf(run, item.taskId!);
  const settled = answered(run, item, isApproved ? VERDICT_OPTIONS[0]! : reason);
  if (!worker?.awaits || worker.sessionId !== item.sessionId) return [settled];
  const verdict = isApproved
    ? accept(run, worker, { by: "human", hasMessages: true }, at)
    : reject(run, worker, { by: "human", given: { reason, issues: [reason] } }, at);
  return [settled, ...verdict];
}

/** The session gets another turn, or the task fails after `rejectionLimit` rejections. */
function reject(
  run: Run,
  worker: Worker,
  { by, given }: { by: string; given: Record<string, unknown> },
  at: number,
): RunEvent[] {
  const found = reasonsIn(given);
  const reasons = found.length > 0 ? found : [sentence("No reason was given.")];
  const met = Array.isArray(given["acceptance_criteria_met"]) ? given["acceptance_criteria_met"] : [];
  const judged = judgeCriteria(run, worker, met, by);
  if (speaksDelegation(run, worker)) {
    const first = [...judged, ...actedOn(run, worker.taskId, worker.awaits!.messageId)];
    return sendBackToMode(run, worker, undefined, reasons, first, by).events;
  }
  const sent = rejection(run, worker, { by, reasons, given }, 0, at);
  const rejected = countRejection(run, worker, { by, reasons, earlier: worker.rejections ?? 0 });
  return [...judged, ...actedOnReport(run, worker), sent, rejected];
}

/** The decision becomes a message to the blocked session. With `resume_task: false` the task fails. */
function resolve(run: Run, worker: Worker, given: Record<string, unknown>, at: number): RunEvent[] {
  const { taskId, sessionId, task } = worker;
  const from = leadOfRun(run)!;
  const to = task.role!;
  const decision = typeof given["decision"] === "string" ? given["decision"] : "";
  const timestamp = new Date(at).toISOString();
  const fixed = { message_type: "BLOCKER_RESOLUTION", task_id: taskId, from_agent: from, to_agent: to, timestamp };
  const body = { resume_task: true, ...given, ...fixed };
  const modified = listOf("requirements", given["modified_requirements"]);
  const events: RunEvent[] = [
    { type: "blocker:resolved", data: { id: run.id, taskId, itemId: null, decision, by: from, ...modified } },
    ...actedOnReport(run, worker),
    queueMessage(run, { type: "BLOCKER_RESOLUTION", from, to, taskId, sessionId, body }, 0),
  ];
  if (given["resume_task"] !== false && speaksDelegation(run, worker)) {
    const [resolved, ...acted] = events.slice(0, -1);
    return [resolved!, ...acted, ...redelegate(run, taskId, { note: noteOf(worker.awaits!.body, decision) })];
  }
  if (given["resume_task"] !== false) return events;
  const error = sentence("{from} stopped the task: {detail}", {
    from,
    detail: decision || sentence("no reason was given"),
  });
  const data = { sessionId, orchestratorId: run.id, taskId, error, code: "stopped" };
  return [...events, { type: "worker:failed", data }];
}
