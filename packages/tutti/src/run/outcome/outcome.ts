// The `outcome` is the complete record of the end of a run. Its verdict follows from the census and the causes.
import { overlaps } from "./overlaps.ts";
import { repositoryWarnings } from "./repository-warnings.ts";
import { nameWarnings, unprovenConflicts } from "./used-names.ts";
import { workWarnings } from "./work-warnings.ts";
import { census, subSessionStanding, taskStanding } from "../census.ts";
import { entryOf } from "../fold/shared-record.ts";
import { contradictions, mergeWarnings } from "../rules/checks.ts";
import { countedSubSessions, isNatural, statedEnd } from "../rules/natural.ts";
import { changesInOtherScopes, outsideCauses } from "../rules/scope.ts";
import { overrideWarnings } from "../team/override-warnings.ts";
import { runBranch } from "../../schema/ids.ts";
import type { Outcome, Verdict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import { sentence, type Say } from "../../sentence.ts";
import { isRunOver } from "../../schema/status.ts";

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

/** The dashboard passes a `Say` that translates. */
export const resultWarnings = (run: Run, say: Say = sentence): string[] => [
  ...workWarnings(run, say),
  ...mergeWarnings(run, say),
  ...changesInOtherScopes(run, say),
  ...nameWarnings(run, say),
  ...unprovenConflicts(run, say),
  ...repositoryWarnings(run, say),
  ...overrideWarnings(run, say),
];

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
    warnings: resultWarnings(run),
    conflicts: [...run.conflicts, ...overlaps(run)],
    verification: run.checks ? { ...run.verification, commands: run.checks.commands } : run.verification,
    usage: run.usage,
    durationMs: run.startedAt === null ? 0 : (run.completedAt ?? now) - run.startedAt,
    error: run.status === "error" ? (run.errors.at(-1)?.error ?? sentence("the run failed")) : null,
  };
}
