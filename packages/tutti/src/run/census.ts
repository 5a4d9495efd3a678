// How a run stands: every planned task counted once, and the verdict that follows.
import { entryOf } from "./shared-record.ts";
import { runBranch } from "../schema/ids.ts";
import type { Census, Outcome, Verdict } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

export type TaskStanding =
  | "completed"
  | "failed"
  | "timeout"
  | "cancelled"
  | "skipped"
  | "blocked"
  | "neverStarted"
  | "active";

/** Where one task stands. `neverStarted` is also the answer for a task that still waits for its turn. */
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

/** Whether a dependency lets its dependents start, may do so later, or never will. */
export function dependencyState(run: Run, taskId: string): "met" | "open" | "lost" {
  const goOn = run.template.config.failedDependency === "continue";
  switch (taskStanding(run, taskId)) {
    case "completed":
      return "met";
    case "skipped":
      return entryOf(run.skipped, taskId)!.satisfied ? "met" : "lost";
    case "failed":
    case "timeout":
    case "cancelled":
      return goOn ? "met" : "lost";
    case "blocked":
      return goOn && entryOf(run.blocked, taskId)!.length === 0 ? "met" : "lost";
    case "active":
    case "neverStarted":
      return "open";
  }
}

/** Adds up to `planned` at any time: what is still active counts as not started yet. */
export function census(run: Run): Census {
  const counts: Census = {
    planned: run.tasks.length,
    completed: 0,
    failed: 0,
    timeout: 0,
    cancelled: 0,
    skipped: 0,
    blocked: 0,
    neverStarted: 0,
  };
  for (const task of run.tasks) {
    const standing = taskStanding(run, task.id);
    counts[standing === "active" ? "neverStarted" : standing]++;
  }
  return counts;
}

/** Every planned task that did not simply complete, with its reason. */
export function causes(run: Run): Outcome["causes"] {
  return run.tasks.flatMap((task) => {
    const standing = taskStanding(run, task.id);
    const worker = entryOf(run.workers, task.id);
    // What the person left out is as the person wants it.
    if (standing === "skipped") return [];
    if (standing === "completed") {
      return worker?.partial
        ? [{ taskId: task.id, status: "partial", reason: worker.error ?? partialReason(worker.output) }]
        : [];
    }
    if (standing === "blocked") {
      return [{ taskId: task.id, status: standing, reason: blockedReason(run.blocked[task.id]!) }];
    }
    if (standing === "active" || standing === "neverStarted") {
      return isRunOver(run.status) ? [{ taskId: task.id, status: "neverStarted", reason: "the run ended first" }] : [];
    }
    return [{ taskId: task.id, status: standing, reason: worker?.error ?? standing }];
  });
}

export const blockedReason = (because: readonly string[]): string =>
  because.length > 0 ? `needs ${because.join(", ")}` : "the time of the phase was over before it could start";

function partialReason(output: unknown): string {
  return typeof output === "string" && output !== "" ? output : "the worker called its result partial";
}

/** The verdict on a run whose work is done: what `orchestrator:completed` will say. */
export function completedVerdict(run: Run): Verdict {
  const clean = causes(run).length === 0 && run.conflicts.every((conflict) => conflict.resolution !== null);
  return clean ? "success" : "degraded";
}

/** Everything of the outcome that the log alone can tell; the files of the branch are git's to say. */
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
    conflicts: run.conflicts,
    verification: run.verification,
    usage: run.usage,
    durationMs: run.startedAt === null ? 0 : (run.completedAt ?? now) - run.startedAt,
    error: run.status === "error" ? (run.errors.at(-1)?.error ?? "the run failed") : null,
  };
}
