// The messages at the end of a role's turn: which of them count (`recordMessages`), and what follows from a completion
// (`afterCompletion`).
import { reportId } from "./decide-delegation.ts";
import { isDelegated, speaksDelegation, type Body } from "./delegation.ts";
import { formProblems, isReview, judgeReview, settleReview } from "./gate.ts";
import { rework } from "./rework.ts";
import { messageTo, parentRole, protocolOf, queueMessage, rejection } from "./team.ts";
import { actedOn, countRejection, textsIn } from "./verdict.ts";
import type { ReadMessage, TurnOver } from "../command.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { SubmittedWork, Worker } from "../../schema/worker.ts";

/** Whether the worker's role answers with messages, in its text or in the mailbox. */
export const speaksMessages = (run: Run, { task }: Worker): boolean => protocolOf(run, task) !== "response";

/** `COMPLETIONS` of document 003 and of document 001. */
const COMPLETIONS = new Set(["TASK_COMPLETION", "completion_report"]);

/**
 * All messages of a review are its verdict, apart from an acknowledgement that asks nothing. One that is `UNREADABLE`
 * may have been a completion, and an escalation contradicts an approval.
 */
const isOfVerdict = ({ type, body }: ReadMessage): boolean =>
  type !== "TASK_ACKNOWLEDGMENT" || clarificationsIn(body).length > 0;

interface Listed {
  message: ReadMessage;
  id: string;
}

function listMessages(run: Run, worker: Worker, over: TurnOver): { listed: Listed[]; events: RunEvent[] } {
  const { taskId, sessionId, task } = worker;
  const to = parentRole(run, task);
  const listed: Listed[] = [];
  const events = (over.messages ?? []).flatMap((message, index): RunEvent[] => {
    const { type, body } = message;
    // The channel identifies the sender (`task.role`); the body may claim another one.
    const queued = queueMessage(run, { type, from: task.role!, to, taskId, sessionId, body }, index);
    const { id } = queued.data.message;
    listed.push({ message, id });
    const about = { id: run.id, messageId: id, taskId };
    return message.reasons.length === 0
      ? [queued, { type: "message:delivered", data: about }]
      : [queued, { type: "message:rejected", data: { ...about, reasons: message.reasons } }];
  });
  return { listed, events };
}

/** A `TASK_ACKNOWLEDGMENT` has its effect at once. */
export function recordMessages(run: Run, worker: Worker, over: TurnOver): RunEvent[] {
  const { listed, events } = listMessages(run, worker, over);
  const assignment = messageTo(run, worker.sessionId);
  const acknowledged = listed.filter(({ message }) => message.type === "TASK_ACKNOWLEDGMENT" && counts(message));
  const { taskId } = worker;
  // A role that escalates has read its task. It may wait for an answer longer than for an acknowledgement.
  const isEscalated = listed.some(({ message }) => message.type === "BLOCKER_ESCALATION" && counts(message));
  const isRead = acknowledged.length > 0 || isEscalated || over.hasRead === true;
  const isNew = assignment !== null && isRead && assignment.acknowledgedAt === null;
  return [
    ...events,
    ...(isNew
      ? [{ type: "message:acknowledged" as const, data: { id: run.id, messageId: assignment.id, taskId } }]
      : []),
    ...actedOn(run, taskId, ...acknowledged.map(({ id }) => id)),
  ];
}

const counts = ({ reasons }: ReadMessage): boolean => reasons.length === 0;

/** The last completion that `counts`. */
const completionOf = (listed: readonly Listed[]): Listed | undefined =>
  listed.findLast(({ message }) => COMPLETIONS.has(message.type) && counts(message));

/**
 * Returns why the completion is sent back, or nothing if it is accepted. A review is judged by `judgeReview` instead.
 */
export function faultsOf(run: Run, worker: Worker, over: TurnOver): string[] {
  if (isReview(run, worker.task)) return [];
  return completionOf(listMessages(run, worker, over).listed)?.message.faults ?? [];
}

/** Returns the `formProblems` of a review. Its session is asked again, because a developer cannot fix them. */
export function reviewProblems(run: Run, worker: Worker, over: TurnOver): string[] {
  if (!isReview(run, worker.task)) return [];
  const completion = completionOf(listMessages(run, worker, over).listed);
  return completion ? formProblems(completion.message) : [];
}

/** After `rejectionLimit` rejections the task fails. */
export function sendBack(
  run: Run,
  worker: Worker,
  over: TurnOver,
  reasons: string[],
  { ended, failed }: { ended: RunEvent; failed: (error: string, code: string) => RunEvent[] },
  at: number,
): RunEvent[] {
  const from = parentRole(run, worker.task);
  const acted = actOn(run, worker, over);
  const rejected = countRejection(run, worker, { by: from, reasons, earlier: worker.rejections ?? 0 });
  if (rejected.type === "worker:failed") return [...failed(rejected.data.error, rejected.data.code), ...acted];
  const given = {
    reason: reasons[0] ?? "The task is not complete.",
    action_required: "Fix every issue, then send another TASK_COMPLETION that says what you fixed.",
    next_review: "The completion is judged again when you send it.",
  };
  const sent = rejection(run, worker, { by: from, reasons, given }, over.messages?.length ?? 0, at);
  return [ended, ...acted, rejected, sent];
}

/** Returns null if no escalation of the turn `counts`. Questions in an acknowledgement are one, too. */
export function escalationOf(run: Run, worker: Worker, over: TurnOver): { body: Body; messageId: string } | null {
  const listed = listMessages(run, worker, over).listed.filter(({ message }) => counts(message));
  const found = listed.findLast(({ message }) => message.type === "BLOCKER_ESCALATION");
  if (found) return { body: found.message.body, messageId: found.id };
  const asking = listed.findLast(
    ({ message }) => message.type === "TASK_ACKNOWLEDGMENT" && clarificationsIn(message.body).length > 0,
  );
  if (!asking) return null;
  const { message, id } = asking;
  const about = { blocker_type: "clarification_needed", severity: "medium" };
  const body = { ...message.body, ...about, description: clarificationsIn(message.body).join("\n") };
  return { body, messageId: id };
}

/** The questions in the `body` of a `TASK_ACKNOWLEDGMENT`. */
export const clarificationsIn = ({ clarifications_needed: listed }: Body): string[] =>
  textsIn(listed).filter((text) => text.trim() !== "");

/**
 * Hands the work to the session that gives the verdict. Returns null for the review of a gate, and if no session does
 * (`isJudged`).
 */
export function submit(run: Run, worker: Worker, over: TurnOver, work: SubmittedWork): RunEvent | null {
  const delegates = speaksDelegation(run, worker);
  const isJudged = speaksMessages(run, worker) || delegates || isDelegated(run, worker.task);
  if (!isJudged || (isReview(run, worker.task) && !isDelegated(run, worker.task))) return null;
  const { taskId, sessionId } = worker;
  const completion = delegates ? undefined : completionOf(listMessages(run, worker, over).listed);
  const reported = delegates || worker.duty ? reportId(run, worker, over) : null;
  const messageId = completion?.id ?? reported ?? messageTo(run, sessionId)?.id ?? "";
  const body = completion?.message.body ?? { ...work.report };
  return { type: "task:submitted", data: { id: run.id, sessionId, taskId, messageId, body, work } };
}

/** The completion and the message that it answers (`messageTo`) have had their effect. */
function actOn(run: Run, worker: Worker, over: TurnOver): RunEvent[] {
  const completion = completionOf(listMessages(run, worker, over).listed);
  return actedOn(run, worker.taskId, completion?.id, messageTo(run, worker.sessionId)?.id);
}

/** Only a review has further consequences: it opens the gate, or leads to `rework`. */
export function afterCompletion(run: Run, worker: Worker, over: TurnOver): RunEvent[] {
  if (!speaksMessages(run, worker)) return [];
  const acted = actOn(run, worker, over);
  if (!isReview(run, worker.task)) return acted;
  const { listed } = listMessages(run, worker, over);
  const { id = "", message } = completionOf(listed) ?? {};
  const verdict = judgeReview(run, worker, listed.map((each) => each.message).filter(isOfVerdict));
  const settled = settleReview(run, worker, verdict, id);
  const isAccepted = verdict.environments.includes(run.template.gate?.environment ?? "staging");
  if (isAccepted || settled.length === 0) return [...acted, ...settled];
  return [...acted, ...settled, ...rework(run, worker.task, message?.body ?? {}, verdict.reasons)];
}
