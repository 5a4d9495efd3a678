// The `census` counts every planned task once, by its `TaskStanding`.
import { countedSubSessions } from "./rules/natural.ts";
import { entryOf } from "./fold/shared-record.ts";
import type { Census } from "../schema/outcome.ts";
import type { Run, Subagent } from "../schema/run.ts";
import { isRunOver, type SubagentEnd } from "../schema/status.ts";

export type TaskStanding =
  | "completed"
  | "failed"
  | "timeout"
  | "cancelled"
  | "skipped"
  | "blocked"
  | "neverStarted"
  | "active";

/** `neverStarted` includes tasks that still wait to start. */
export function taskStanding(run: Run, taskId: string): TaskStanding {
  if (entryOf(run.skipped, taskId)) return "skipped";
  const worker = entryOf(run.workers, taskId);
  switch (worker?.status) {
    case "completed":
    case "failed":
    case "timeout":
    case "cancelled":
      return worker.status;
    case "spawning":
    case "running":
    case "paused":
      return "active";
    default:
      return entryOf(run.blocked, taskId) ? "blocked" : "neverStarted";
  }
}

/** `met`: dependents may start. `open`: they may start later. `lost`: they can never start. */
export function dependencyState(run: Run, taskId: string): "met" | "open" | "lost" {
  const continues = run.template.config.failedDependency === "continue";
  switch (taskStanding(run, taskId)) {
    case "completed":
      return "met";
    case "skipped":
      return entryOf(run.skipped, taskId)!.satisfied ? "met" : "lost";
    case "failed":
    case "timeout":
    case "cancelled":
      return continues ? "met" : "lost";
    case "blocked":
      return continues && entryOf(run.blocked, taskId)!.length === 0 ? "met" : "lost";
    case "active":
    case "neverStarted":
      return "open";
  }
}

/**
 * The counts always add up to `planned`, so active tasks count as `neverStarted`. In natural mode `countedSubSessions`
 * are counted like tasks.
 */
export function census(run: Run): Census {
  const counts: Census = {
    planned: 0,
    completed: 0,
    failed: 0,
    timeout: 0,
    cancelled: 0,
    skipped: 0,
    blocked: 0,
    neverStarted: 0,
  };
  const standings = [
    ...run.tasks.map((task) => taskStanding(run, task.id)),
    ...countedSubSessions(run).map(([, subagent]) => subSessionStanding(run, subagent)),
  ];
  for (const standing of standings) counts[standing === "active" ? "neverStarted" : standing]++;
  return { ...counts, planned: standings.length };
}

/** A sub-session without a status was ended with its run: `cancelled` or failed like the run. */
export function subSessionStanding(run: Run, { status }: Subagent): SubagentEnd | "active" {
  if (status) return status;
  if (!isRunOver(run.status)) return "active";
  return run.status === "cancelled" ? "cancelled" : "failed";
}
