// The `census` counts every planned task once, by its `TaskStanding`. The verdict follows from it.
import { overlaps } from "./overlaps.ts";
import { countedSubSessions, isNatural, statedEnd } from "./rules/natural.ts";
import { repositoryWarnings } from "./repository-warnings.ts";
import { nameWarnings, unprovenConflicts } from "./used-names.ts";
import { workWarnings } from "./work-warnings.ts";
import { overrideWarnings } from "./team/override-warnings.ts";
import { contradictions, mergeWarnings } from "./rules/checks.ts";
import { changesInOtherScopes, outsideCauses } from "./rules/scope.ts";
import { entryOf } from "./fold/shared-record.ts";
import { runBranch } from "../schema/ids.ts";
import type { Census, Outcome, Verdict } from "../schema/outcome.ts";
import type { Run, Subagent } from "../schema/run.ts";
import { sentence } from "../sentence.ts";
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
function subSessionStanding(run: Run, { status }: Subagent): SubagentEnd | "active" {
  if (status) return status;
  if (!isRunOver(run.status)) return "active";
  return run.status === "cancelled" ? "cancelled" : "failed";
}

/**
 * Names the `countedSubSessions` of a natural run that did not complete, and the session itself if it did only a part.
 */
function naturalCauses(run: Run): Outcome["causes"] {
  const { status, reason } = statedEnd(isNatural(run) ? (run.analysis?.summary ?? "") : "");
  return [
    ...countedSubSessions(run).flatMap(([id, subagent]) => {
      const standing = subSessionStanding(run, subagent);
      if (standing === "completed" || standing === "active") return [];
      const name = subagent.description ?? "sub-session";
      return [{ taskId: id, status: standing, reason: `${name}: ${subagent.text || standing}` }];
    }),
    ...(status === "partial" ? [{ taskId: "main", status, reason }] : []),
  ];
}

/** Lists tasks and sub-sessions that did not complete fully, and `contradictions` of their claims. */
function causes(run: Run): Outcome["causes"] {
  const ofTasks = run.tasks.flatMap((task) => {
    const standing = taskStanding(run, task.id);
    const worker = entryOf(run.workers, task.id);
    // A task in `run.skipped` is as the user wants it.
    if (standing === "skipped") return [];
    if (standing === "completed") {
      if (worker?.partial)
        return [{ taskId: task.id, status: "partial", reason: worker.error ?? partialReason(worker.output) }];
      const { warnings = [] } = worker ?? {};
      return warnings.length > 0 ? [{ taskId: task.id, status: "contradicted", reason: warnings.join("; ") }] : [];
    }
    if (standing === "blocked") {
      return [{ taskId: task.id, status: standing, reason: blockedReason(run.blocked[task.id]!) }];
    }
    if (standing === "active" || standing === "neverStarted") {
      return isRunOver(run.status)
        ? [{ taskId: task.id, status: "neverStarted", reason: sentence("the run ended first") }]
        : [];
    }
    return [{ taskId: task.id, status: standing, reason: worker?.error ?? standing }];
  });
  return [...ofTasks, ...naturalCauses(run), ...contradictions(run), ...outsideCauses(run)];
}

const blockedReason = (because: readonly string[]): string =>
  because.length > 0
    ? sentence("needs {tasks}", { tasks: because.join(", ") })
    : sentence("the phase timed out before the task could start");

function partialReason(output: unknown): string {
  return typeof output === "string" && output !== "" ? output : sentence("the worker reported a partial result");
}

export function completedVerdict(run: Run): Verdict {
  const isMerged = run.conflicts.every((conflict) => conflict.resolution !== null);
  const isUntouched = (run.movedRefs ?? []).length === 0;
  return causes(run).length === 0 && isMerged && isUntouched ? "success" : "degraded";
}

/** `outputFiles` comes from git, everything else from the log. */
export function outcome(run: Run, outputFiles: string[], now: number): Outcome {
  return {
    id: run.id,
    status: run.status,
    outcome: run.outcome,
    census: census(run),
    causes: causes(run),
    branch: run.head === null ? null : runBranch(run.id),
    commit: run.head,
    outputFiles,
    warnings: [
      ...workWarnings(run),
      ...mergeWarnings(run),
      ...changesInOtherScopes(run),
      ...nameWarnings(run),
      ...unprovenConflicts(run),
      ...repositoryWarnings(run),
      ...overrideWarnings(run),
    ],
    conflicts: [...run.conflicts, ...overlaps(run)],
    verification: run.checks ? { ...run.verification, commands: run.checks.commands } : run.verification,
    usage: run.usage,
    durationMs: run.startedAt === null ? 0 : (run.completedAt ?? now) - run.startedAt,
    error: run.status === "error" ? (run.errors.at(-1)?.error ?? sentence("the run failed")) : null,
  };
}
