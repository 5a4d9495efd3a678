// The events of a verdict on reported work, by the lead, the parent of a delegated task, the rules or the user.
import { textOf, type Body } from "./delegation.ts";
import { rejectionLimit } from "./rework.ts";
import { approval, messageTo } from "./team.ts";
import { sentence } from "../../sentence.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** Returns one event for each criterion with a verdict in `met`. */
export const judgeCriteria = (run: Run, { taskId, task }: Worker, met: readonly unknown[], by: string): RunEvent[] =>
  (task.acceptanceCriteria ?? []).flatMap((criterion, index): RunEvent[] => {
    const isMet = met[index];
    if (typeof isMet !== "boolean") return [];
    return [{ type: "criterion:judged", data: { id: run.id, taskId, index, criterion, met: isMet, by } }];
  });

/** The messages have had their effect. Leaves out missing ids, which are undefined or empty. */
export const actedOn = (run: Run, taskId: string, ...ids: (string | undefined)[]): RunEvent[] =>
  ids.flatMap((messageId) => (messageId ? [{ type: "message:acted", data: { id: run.id, messageId, taskId } }] : []));

/** The report or the question of the session, and the message that it answers, have had their effect. */
export const actedOnReport = (run: Run, { taskId, sessionId, awaits }: Worker, ...sent: string[]): RunEvent[] =>
  actedOn(run, taskId, awaits?.messageId, messageTo(run, sessionId)?.id, ...sent);

interface Acceptance {
  by: string;
  /** By criterion; all are met if missing. */
  met?: readonly unknown[] | undefined;
  /** Whether the session speaks a protocol with messages about its work. */
  hasMessages: boolean;
}

/** Completes the task with the work that `awaits` the verdict. */
export function accept(run: Run, worker: Worker, { by, met, hasMessages }: Acceptance, at: number): RunEvent[] {
  const { taskId, sessionId, task, awaits } = worker;
  const sent = hasMessages ? [approval(run, worker, by, at)] : [];
  const verdicts = met ?? (task.acceptanceCriteria ?? []).map(() => true);
  return [
    ...sent,
    { type: "task:approved", data: { id: run.id, sessionId, taskId, by } },
    ...judgeCriteria(run, worker, verdicts, by),
    { type: "worker:completed", data: { sessionId, orchestratorId: run.id, taskId, ...awaits!.work! } },
    ...(hasMessages ? actedOnReport(run, worker, ...sent.map(({ data }) => data.message.id)) : []),
  ];
}

/** One more rejection, or the failure of the task after `rejectionLimit` of them. */
export function countRejection(
  run: Run,
  { taskId, sessionId }: Worker,
  { by, reasons, earlier }: { by: string; reasons: string[]; earlier: number },
): EventOf<"task:rejected"> | EventOf<"worker:failed"> {
  const count = earlier + 1;
  if (earlier < rejectionLimit(run))
    return { type: "task:rejected", data: { id: run.id, sessionId, taskId, by, reasons, count } };
  const error = sentence("rejected {count} times: {detail}", { count, detail: reasons.join(" ") });
  return { type: "worker:failed", data: { sessionId, orchestratorId: run.id, taskId, error, code: "rejected" } };
}

/** The elements of a list that a session has sent, as texts. */
export const textsIn = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).map((each) => (typeof each === "string" ? each : JSON.stringify(each)));

export const reasonsIn = ({ reason, issues }: Body): string[] => [
  ...new Set([textOf(reason), ...textsIn(issues)].filter((text) => text.trim() !== "")),
];
