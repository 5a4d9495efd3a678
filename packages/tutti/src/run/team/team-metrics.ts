import { taskOf, workersOf } from "../lookup.ts";
import { clarificationsIn } from "./decide-team-answer.ts";
import { isReceived } from "./team.ts";
import type { TeamMetrics } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";

/** Messages of `REPORT_TYPES` report a completed task, in the documents 003, 001 and 002. */
export const REPORT_TYPES: ReadonlySet<string> = new Set([
  "TASK_COMPLETION",
  "completion_report",
  "attempt_completion",
]);

/** A blocker of document 003, questions in an acknowledgement of it, or a report of document 002 that asks. */
function isQuestion({ type, body }: TeamMessage): boolean {
  if (type === "TASK_ACKNOWLEDGMENT") return clarificationsIn(body).length > 0;
  return type === "BLOCKER_ESCALATION" || (type === "attempt_completion" && body["result"] === "clarification_needed");
}

const isOfTurn = (message: TeamMessage, sessionId: string, at: number): boolean =>
  message.sessionId === sessionId && message.queuedAt === at;

/** Returns `undefined` for a run without roles. */
export function teamMetrics(run: Run, now: number): TeamMetrics | undefined {
  if (!run.template.roles) return undefined;
  const counted = (run.teamMessages ?? []).filter(({ state }) => state !== "rejected");
  const ofType = (type: string) => counted.filter((message) => message.type === type);
  const completions = counted.filter(({ type }) => REPORT_TYPES.has(type)).length;
  // Document 001 assigns a rejected task again, and document 002 delegates it again.
  const assignedAgain = ofType("task_assignment").filter(({ body }) => "rejectionReason" in body).length;
  const delegatedAgain = run.tasks.reduce((sum, { delegation }) => sum + (delegation?.rejections ?? 0), 0);
  const sentBack = ofType("TASK_REJECTION").filter(({ taskId }) => !taskOf(run, taskId)?.delegation).length;
  const rejections = sentBack + assignedAgain + delegatedAgain;
  const ages = counted.flatMap((question, index) => {
    const { taskId, queuedAt, sessionId } = question;
    // A role that completed its task in the same turn did not wait for an answer.
    const isReported = counted.some((each) => each.type === "TASK_COMPLETION" && isOfTurn(each, sessionId, queuedAt));
    if (!isQuestion(question) || isReported) return [];
    // The answer is a message to the session, or the assignment of the next attempt.
    const answer = counted.slice(index).find((each) => each.taskId === taskId && isReceived(each));
    return [(answer?.queuedAt ?? run.completedAt ?? now) - queuedAt];
  });
  const times = workersOf(run).flatMap(({ status, task, startedAt, completedAt }) =>
    status === "completed" && task.role !== undefined ? [completedAt! - startedAt!] : [],
  );
  return {
    rejectionRate: completions === 0 ? 0 : rejections / completions,
    completionTimeMs: times.length === 0 ? 0 : times.reduce((sum, time) => sum + time, 0) / times.length,
    blockerAgeMs: Math.max(0, ...ages),
  };
}
