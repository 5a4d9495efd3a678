// `orchestratorState` is a run in the form of document 004: the state folded from the log, with times as `Date`.
import { workersOf } from "../run/lookup.ts";
import { errorsOf, type Run } from "../schema/run.ts";
import type { Phase, RunStatus } from "../schema/status.ts";
import { documentStats, type ToolStats } from "../schema/worker.ts";

/** `MEMBERS` are the same in the log and in the document. */
const MEMBERS = [
  "id",
  "templateId",
  "template",
  "mainSessionId",
  "cwd",
  "userRequest",
  "agent",
  "status",
  "outcome",
  "currentPhase",
  "analysis",
  "tasks",
  "parallelGroups",
  "planErrors",
  "planWarnings",
  "aggregation",
  "verification",
  "conflicts",
  "usage",
  "customVariables",
] as const satisfies (keyof Run)[];

export interface OrchestratorState extends Pick<Run, (typeof MEMBERS)[number] | "skipped" | "blocked"> {
  /** Task ids to the sessions of their newest attempts. */
  workers: Map<string, string>;
  stats: ReturnType<typeof documentStats>;
  errors: { phase: Phase | null; error: string; code: string; timestamp: Date }[];
  createdAt: Date;
  updatedAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  _previousStatus: RunStatus | null;
  _previousPhase: Phase | null;
}

export interface OrchestratorSummary extends Pick<
  OrchestratorState,
  "id" | "status" | "currentPhase" | "stats" | "createdAt" | "updatedAt" | "startedAt" | "completedAt"
> {
  taskCount: number;
  completedTasks: number;
  errors: number;
}

export function orchestratorState(run: Run): OrchestratorState {
  // The deep copy keeps changes by the caller away from the run.
  return structuredClone({
    ...pick(run, MEMBERS),
    // `skipped` and `blocked` are proxies, which `structuredClone` cannot copy.
    skipped: { ...run.skipped },
    blocked: { ...run.blocked },
    workers: new Map(workersOf(run).map(({ taskId, sessionId }) => [taskId, sessionId])),
    stats: documentStats(run.toolStats),
    errors: errorsOf(run).map((error) => ({ ...error, timestamp: new Date(error.timestamp) })),
    ...times(run),
    _previousStatus: run.pausedFrom?.status ?? null,
    _previousPhase: run.pausedFrom?.phase ?? null,
  });
}

export const pick = <T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<T, K>;

export function orchestratorSummary(run: Run): OrchestratorSummary {
  return {
    ...pick(run, ["id", "status", "currentPhase"]),
    taskCount: run.tasks.length,
    completedTasks: workersOf(run).filter((worker) => worker.status === "completed").length,
    stats: documentStats(run.toolStats),
    errors: errorsOf(run).length,
    ...times(run),
  };
}

const times = ({ createdAt, updatedAt, startedAt, completedAt }: Run) => ({
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
  startedAt: dateOrNull(startedAt),
  completedAt: dateOrNull(completedAt),
});

export const dateOrNull = (at: number | null): Date | null => (at === null ? null : new Date(at));

/** Converts the counts of the document to those of the log. Ignores values that are not positive numbers. */
export function countsOf(toolStats: Readonly<Record<string, unknown>>): ToolStats {
  const of = (...names: string[]): number =>
    names.map((name) => toolStats[name]).reduce((sum: number, n) => sum + (typeof n === "number" && n > 0 ? n : 0), 0);
  const search = of("glob", "grep", "search");
  const counted = of("reads", "writes", "edits", "bash", "web", "task", "other") + search;
  return {
    total: Math.max(counted, of("total", "totalTools")),
    reads: of("reads"),
    writes: of("writes"),
    edits: of("edits"),
    bash: of("bash"),
    search,
    web: of("web"),
    task: of("task"),
    glob: of("glob"),
    grep: of("grep"),
    failed: of("failed"),
  };
}
