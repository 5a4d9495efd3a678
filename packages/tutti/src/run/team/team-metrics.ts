import { taskOf, workersOf } from "../lookup.ts";
import type { TeamMetrics } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

/** Messages of `REPORT_TYPES` report a completed task, in the documents 003, 001 and 002. */
export const REPORT_TYPES: ReadonlySet<string> = new Set([
  "TASK_COMPLETION",
  "completion_report",
  "attempt_completion",
]);

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
  const ages = ofType("BLOCKER_ESCALATION").map(({ sessionId, queuedAt }) => {
    const resolved = ofType("BLOCKER_RESOLUTION").find(
      (answer) => answer.sessionId === sessionId && answer.queuedAt >= queuedAt,
    );
    return (resolved?.queuedAt ?? run.completedAt ?? now) - queuedAt;
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
