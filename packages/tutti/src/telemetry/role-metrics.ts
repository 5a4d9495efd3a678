// `roleMetrics` measures teams: how long their tasks take, how often work is sent back, and how long blockers wait.
import { counter, histogram, observed, type Metric } from "./metric.ts";
import { activeWorkers, workerOf } from "../run/lookup.ts";
import { valuesOf } from "../run/fold/shared-record.ts";
import { REPORT_TYPES } from "../run/team/team-metrics.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";

/** `TASK_SECONDS` are bounds from ten seconds to eight hours. */
const TASK_SECONDS = [10, 30, 60, 300, 900, 1800, 3600, 7200, 28_800];

interface RoleMetrics {
  metrics: Metric[];
  count: (event: StoredEvent, run: Run) => void;
}

export function roleMetrics(openRuns: () => Iterable<Run>, now: () => number): RoleMetrics {
  const times = histogram(
    "tutti_team_task_seconds",
    "Time from the start of a task to its approval, by role.",
    TASK_SECONDS,
  );
  const reports = counter("tutti_team_reports_total", "Reports of completed tasks, by role.");
  const rejections = counter("tutti_team_rejections_total", "Reports that were sent back, by role.");
  const overdue = counter("tutti_team_tasks_overdue_total", "Tasks whose deadline passed, by role.");
  const roleOf = (run: Run, taskId: string): { role: string } => ({ role: workerOf(run, taskId)?.task.role ?? "none" });
  return {
    metrics: [
      times,
      reports,
      rejections,
      overdue,
      observed("gauge", "tutti_team_blocker_age_seconds", "Age of the oldest blocker without an answer.", () => {
        const since = [...openRuns()].flatMap(blockerTimes);
        return since.length === 0 ? 0 : Math.max(0, now() - Math.min(...since)) / 1000;
      }),
    ],
    count({ type, data }, run) {
      if (run.template.roles === undefined) return;
      if (type === "worker:completed") {
        const { startedAt = null, completedAt = null } = workerOf(run, data.taskId) ?? {};
        if (startedAt === null || completedAt === null) return;
        times.observe(roleOf(run, data.taskId), (completedAt - startedAt) / 1000);
      } else if (type === "message:queued" && REPORT_TYPES.has(data.message.type)) {
        reports.add(roleOf(run, data.message.taskId));
      } else if (type === "task:rejected") rejections.add(roleOf(run, data.taskId));
      else if (type === "task:overdue") overdue.add(roleOf(run, data.taskId));
    },
  };
}

/** `blockerTimes` has the blockers that wait for the user, then those that wait for the lead. */
function blockerTimes(run: Run): number[] {
  if (run.template.roles === undefined) return [];
  const ofUser = valuesOf(run.inbox).flatMap(({ kind, createdAt }) => (kind === "blocker" ? [createdAt] : []));
  const ofLead = activeWorkers(run).flatMap(({ awaits }) => (awaits?.kind === "resolution" ? [awaits.since] : []));
  return [...ofUser, ...ofLead];
}
