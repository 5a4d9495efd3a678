// What should exist right now: which sessions should be alive, which tasks should start, which work should be merged,
// and until when a session may take. The engine compares this with what is there and acts on the difference; it keeps
// no memory of what it did before, so a restart is nothing special.
import { minutesOverAt } from "./budget.ts";
import { taskStanding } from "./census.ts";
import { taskOf, workerOf, workersOf } from "./lookup.ts";
import { scopesOverlap } from "./scopes.ts";
import { compareUrgency } from "./urgency.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase } from "../schema/status.ts";

export interface Limits {
  /** Workers that may still be started on this server, over all runs. */
  freeSlots: number;
}

export interface Deadline {
  sessionId: string;
  at: number;
}

export interface Wanted {
  /** The main session is needed and there is none. */
  spawnMain: boolean;
  /** Tasks to start now, the most urgent first. */
  spawn: string[];
  /** Sessions that must be alive: started if they are not. */
  sessions: string[];
  /** Sessions that may stay alive but are not needed for now. */
  idle: string[];
  /** Tasks whose accepted work is to be merged, in the order in which it was accepted. */
  merges: string[];
  deadlines: Deadline[];
  /** When to look again, although nothing will have happened by then. */
  lookAt: number | null;
}

export const NOTHING_WANTED: Wanted = {
  spawnMain: false,
  spawn: [],
  sessions: [],
  idle: [],
  merges: [],
  deadlines: [],
  lookAt: null,
};

export function schedule(run: Run, limits: Limits, now: number): Wanted {
  if (isRunOver(run.status)) return NOTHING_WANTED;
  const workers = workersOf(run);
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const active = workers.filter((worker) => worker.session.state !== "over");
  const paused = run.status === "paused";
  const ready = paused ? [] : readyTasks(run, now);
  return {
    spawnMain: !paused && run.owed !== null && main === null,
    spawn: startable(
      run,
      ready,
      active.map(({ taskId }) => taskId),
      limits,
      now,
    ),
    sessions: [...(main && run.owed !== null ? [main.sessionId] : []), ...active.map((worker) => worker.sessionId)],
    idle: main && run.owed === null ? [main.sessionId] : [],
    merges: workers
      .filter((worker) => worker.status === "completed" && worker.merged === "not yet")
      .toSorted((a, b) => a.completedAt! - b.completedAt! || (a.taskId < b.taskId ? -1 : 1))
      .map((worker) => worker.taskId),
    deadlines: deadlines(run),
    lookAt: nextLook(run, now),
  };
}

/** As many of the ready tasks as there is room for, leaving out those that would get in the way of one that runs. */
function startable(run: Run, ready: string[], active: string[], limits: Limits, now: number): string[] {
  const { parallelExecution, maxWorkers, spawnDelay, overlappingScopes } = run.template.config;
  const cap = parallelExecution ? maxWorkers : 1;
  const paced = spawnDelay > 0 ? 1 : Number.POSITIVE_INFINITY;
  const slots = Math.max(0, Math.min(limits.freeSlots, cap - active.length, paced));
  if (slots === 0 || ready.length === 0 || now < nextSpawnAt(run)) return [];
  const chosen: string[] = [];
  for (const id of inOrder(run, ready)) {
    if (chosen.length >= slots) break;
    const { scope } = taskOf(run, id)!;
    const inTheWay = (other: string) => scopesOverlap(scope, taskOf(run, other)!.scope);
    if (overlappingScopes === "apart" && [...active, ...chosen].some(inTheWay)) continue;
    chosen.push(id);
  }
  return chosen;
}

/** The agent's own order holds when tasks run one by one; otherwise the most urgent comes first. */
function inOrder(run: Run, ready: readonly string[]): string[] {
  const { executionOrder, tasks } = run;
  if (!run.template.config.parallelExecution && executionOrder) {
    const place = new Map(executionOrder.map((id, index) => [id, index]));
    return ready.toSorted((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  }
  return ready.toSorted((a, b) => compareUrgency(tasks, a, b));
}

export function readyTasks(run: Run, now: number): string[] {
  return run.tasks.filter((task) => isReady(run, task.id, now)).map((task) => task.id);
}

/** Whether a task may start: confirmed, not started, nothing to wait for, and its dependencies out of the way. */
export function isReady(run: Run, taskId: string, now: number): boolean {
  if (run.status !== "spawning" && run.status !== "running") return false;
  const task = taskOf(run, taskId);
  if (!task || taskStanding(run, taskId) !== "neverStarted") return false;
  const notBefore = workerOf(run, taskId)?.notBefore ?? null;
  if (notBefore !== null && now < notBefore) return false;
  return task.dependencies.every((id) => dependencyState(run, id) === "met");
}

/** Whether a dependency lets its dependents start, may do so later, or never will. */
export function dependencyState(run: Run, taskId: string): "met" | "open" | "lost" {
  const goOn = run.template.config.failedDependency === "continue";
  switch (taskStanding(run, taskId)) {
    case "completed":
      return "met";
    case "skipped":
      return run.skipped[taskId]!.satisfied ? "met" : "lost";
    case "failed":
    case "timeout":
    case "cancelled":
      return goOn ? "met" : "lost";
    case "blocked":
      return goOn && run.blocked[taskId]!.length === 0 ? "met" : "lost";
    case "active":
    case "neverStarted":
      return "open";
  }
}

function nextSpawnAt(run: Run): number {
  return run.lastSpawnAt === null ? Number.NEGATIVE_INFINITY : run.lastSpawnAt + run.template.config.spawnDelay;
}

/** The first moment after now at which something is due that no session will report. */
function nextLook(run: Run, now: number): number | null {
  const moments = [
    ...(run.status === "paused" ? [] : [nextSpawnAt(run), phaseOverAt(run), minutesOverAt(run)]),
    ...workersOf(run).flatMap(({ status, notBefore }) => (status === "pending" ? [notBefore] : [])),
    ...Object.values(run.inbox).map(({ expiresAt }) => expiresAt ?? null),
  ].filter((moment) => moment !== null && moment > now && Number.isFinite(moment)) as number[];
  return moments.length === 0 ? null : Math.min(...moments);
}

/** When the workers' phase as a whole has taken too long. */
export function phaseOverAt(run: Run): number | null {
  const { timeout } = run.template.phases.workerExecution;
  if (timeout === undefined || run.phaseSince === null) return null;
  return run.status === "spawning" || run.status === "running" ? run.phaseSince + timeout : null;
}

const PHASE_TIMEOUTS = ["analysis", "taskPlanning", "aggregation", "verification"] as const;

/** A session that is paused or waits for a person has no deadline; that time does not count afterwards. */
export function deadlines(run: Run): Deadline[] {
  const waiting = new Set(Object.values(run.inbox).map((item) => item.sessionId));
  const found: Deadline[] = [];
  const phase = PHASE_TIMEOUTS.find((each: Phase) => each === run.main?.turn?.phase);
  if (run.main?.turn && phase && run.main.pausedAt === null && !waiting.has(run.main.sessionId)) {
    const at = run.main.turn.startedAt + run.template.phases[phase].timeout + run.main.waitedMs;
    found.push({ sessionId: run.main.sessionId, at });
  }
  for (const worker of workersOf(run)) {
    if (worker.status !== "running" || worker.startedAt === null || waiting.has(worker.sessionId)) continue;
    const at = worker.startedAt + run.template.config.workerTimeout + worker.session.waitedMs;
    found.push({ sessionId: worker.sessionId, at });
  }
  return found;
}
