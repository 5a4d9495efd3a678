import { workersOf } from "../lookup.ts";
import type { TeamMetrics } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

/** How well a team works together; undefined for a run without roles. */
export function teamMetrics(run: Run, now: number): TeamMetrics | undefined {
  if (!run.template.roles) return undefined;
  const counted = (run.teamMessages ?? []).filter(({ state }) => state !== "rejected");
  const ofType = (type: string) => counted.filter((message) => message.type === type);
  const completions = ofType("TASK_COMPLETION").length + ofType("completion_report").length;
  // Document 001 assigns a rejected task again.
  const assignedAgain = ofType("task_assignment").filter(({ body }) => "rejectionReason" in body).length;
  const rejections = ofType("TASK_REJECTION").length + assignedAgain;
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
