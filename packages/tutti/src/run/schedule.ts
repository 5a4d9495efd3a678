// What should exist right now: which sessions should be alive, which tasks should start, which work should be merged,
// and until when a session may take. The engine compares this with what is there and acts on the difference; it keeps
// no memory of what it did before, so a restart is nothing special.
import { taskStanding } from "./census.ts";
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
}

export const NOTHING_WANTED: Wanted = {
  spawnMain: false,
  spawn: [],
  sessions: [],
  idle: [],
  merges: [],
  deadlines: [],
};

export function schedule(run: Run, limits: Limits): Wanted {
  if (isRunOver(run.status)) return NOTHING_WANTED;
  const workers = Object.values(run.workers);
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const active = workers.filter((worker) => worker.session.state !== "over");
  const executing = run.status === "spawning" || run.status === "running";
  const cap = run.template.config.parallelExecution ? run.template.config.maxWorkers : 1;
  const slots = Math.max(0, Math.min(limits.freeSlots, cap - active.length));
  return {
    spawnMain: run.owed !== null && main === null,
    spawn: executing && slots > 0 ? readyTasks(run).slice(0, slots) : [],
    sessions: [...(main && run.owed !== null ? [main.sessionId] : []), ...active.map((worker) => worker.sessionId)],
    idle: main && run.owed === null ? [main.sessionId] : [],
    merges: workers
      .filter((worker) => worker.status === "completed" && worker.merged === "not yet")
      .toSorted((a, b) => a.completedAt! - b.completedAt! || (a.taskId < b.taskId ? -1 : 1))
      .map((worker) => worker.taskId),
    deadlines: deadlines(run),
  };
}

/** Ready tasks by priority (1 first), then in the order of the plan. */
function readyTasks(run: Run): string[] {
  return run.tasks
    .filter((task) => isReady(run, task.id))
    .toSorted((a, b) => a.priority - b.priority)
    .map((task) => task.id);
}

/** Whether a task may start: confirmed, not started, and the work of all its dependencies accepted. */
export function isReady(run: Run, taskId: string): boolean {
  if (run.status !== "spawning" && run.status !== "running") return false;
  const task = run.tasks.find((each) => each.id === taskId);
  if (!task || taskStanding(run, taskId) !== "neverStarted") return false;
  return task.dependencies.every((id) => taskStanding(run, id) === "completed");
}

const PHASE_TIMEOUTS = ["analysis", "taskPlanning", "aggregation", "verification"] as const;

/** A session that waits for a person has no deadline; the time it waited does not count afterwards. */
export function deadlines(run: Run): Deadline[] {
  const waiting = new Set(Object.values(run.inbox).map((item) => item.sessionId));
  const found: Deadline[] = [];
  const phase = PHASE_TIMEOUTS.find((each: Phase) => each === run.main?.turn?.phase);
  if (run.main?.turn && phase && !waiting.has(run.main.sessionId)) {
    const at = run.main.turn.startedAt + run.template.phases[phase].timeout + run.main.waitedMs;
    found.push({ sessionId: run.main.sessionId, at });
  }
  for (const worker of Object.values(run.workers)) {
    if (worker.status !== "running" || worker.startedAt === null || waiting.has(worker.sessionId)) continue;
    const at = worker.startedAt + run.template.config.workerTimeout + worker.session.waitedMs;
    found.push({ sessionId: worker.sessionId, at });
  }
  return found;
}
