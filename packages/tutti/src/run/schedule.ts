// What should exist right now: which sessions should be alive, which tasks should start, which work should be merged,
// and until when a session may take. The engine compares this with what is there and acts on the difference; it keeps
// no memory of what it did before, so a restart is nothing special.
import { minutesOverAt } from "./budget.ts";
import { castOf } from "./cast.ts";
import { taskOf, workerOf } from "./lookup.ts";
import { openWork } from "./open-work.ts";
import { outlineOf } from "./outline.ts";
import { mayAsk, refusalOf, refusedUntil } from "./provider.ts";
import { scopesOverlap } from "./scopes.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase } from "../schema/status.ts";
import type { Worker } from "../schema/worker.ts";

export interface Limits {
  /** Workers that may still be started on this server, over all runs. */
  freeSlots: number;
  /** Up to when everything that is due by itself has been looked at; now, unless a look was missed. */
  since?: number;
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
  const { active, unmerged } = openWork(run);
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const paused = run.status === "paused";
  return {
    spawnMain: !paused && run.owed !== null && main === null && mayAsk(run, castOf(run, run.owed.phase).agent, now),
    spawn: startable(run, active, limits, now),
    sessions: [...(main && run.owed !== null ? [main.sessionId] : []), ...active.map((worker) => worker.sessionId)],
    idle: main && run.owed === null ? [main.sessionId] : [],
    merges: unmerged.map((worker) => worker.taskId),
    deadlines: deadlines(run),
    lookAt: nextLook(run, Math.min(now, limits.since ?? now)),
  };
}

/** As many of the ready tasks as there is room for, leaving out those that would get in the way of one that runs. */
function startable(run: Run, active: readonly Worker[], limits: Limits, now: number): string[] {
  const { parallelExecution, maxWorkers, spawnDelay, overlappingScopes } = run.template.config;
  const cap = parallelExecution ? maxWorkers : 1;
  const paced = spawnDelay > 0 ? 1 : Number.POSITIVE_INFINITY;
  const { agent } = castOf(run, "workerExecution");
  // One session shows whether the provider still refuses.
  const probing = refusalOf(run, agent) === null ? Number.POSITIVE_INFINITY : 1;
  if (!mayAsk(run, agent, now)) return [];
  const slots = Math.max(0, Math.min(limits.freeSlots, cap - active.length, paced, probing));
  if (slots === 0 || now < nextSpawnAt(run)) return [];
  const chosen: string[] = [];
  const taken = active.map(({ task }) => task.scope);
  someReady(run, now, (taskId) => {
    const { scope } = taskOf(run, taskId)!;
    if (overlappingScopes === "apart" && taken.some((other) => scopesOverlap(scope, other))) return false;
    taken.push(scope);
    return chosen.push(taskId) >= slots;
  });
  return chosen;
}

const mayStart = ({ status }: Run): boolean => status === "spawning" || status === "running";

/** Whether the time has come for the next attempt. */
function isDue(run: Run, taskId: string, now: number): boolean {
  const notBefore = workerOf(run, taskId)?.notBefore ?? null;
  // One whose session was lost while a person had paused it rests until it is resumed.
  const rests = (workerOf(run, taskId)?.pausedBy ?? null) !== null;
  return !rests && (notBefore === null || now >= notBefore);
}

/** Asks about the tasks that could start, in the order in which they should, until the answer is yes. */
export function someReady(run: Run, now: number, test: (taskId: string) => boolean): boolean {
  return mayStart(run) && openWork(run).ready.some((taskId) => isDue(run, taskId, now) && test(taskId));
}

/** Whether there is room and time for one more worker, and nobody at work would get in the way of this one. */
export function hasRoom(run: Run, taskId: string, now: number): boolean {
  const { parallelExecution, maxWorkers, overlappingScopes } = run.template.config;
  const { active } = openWork(run);
  if (active.length >= (parallelExecution ? maxWorkers : 1) || now < nextSpawnAt(run)) return false;
  const scope = taskOf(run, taskId)?.scope ?? [];
  return overlappingScopes === "allow" || !active.some(({ task }) => scopesOverlap(scope, task.scope));
}

/** Whether a task may start: confirmed, not started, nothing to wait for, and its dependencies out of the way. */
export function isReady(run: Run, taskId: string, now: number): boolean {
  const { places, ranks } = outlineOf(run);
  const place = places.get(taskId);
  if (place === undefined || !mayStart(run)) return false;
  return openWork(run).ready.get(ranks[place]!) === taskId && isDue(run, taskId, now);
}

function nextSpawnAt(run: Run): number {
  return run.lastSpawnAt === null ? Number.NEGATIVE_INFINITY : run.lastSpawnAt + run.template.config.spawnDelay;
}

/** The first moment after `since` at which something is due that no session will report. */
function nextLook(run: Run, since: number): number | null {
  const moments = [
    ...(run.status === "paused" ? [] : [nextSpawnAt(run), phaseOverAt(run), minutesOverAt(run)]),
    ...openWork(run).waiting.map(({ notBefore }) => notBefore),
    refusedUntil(run, since),
  ].filter((moment) => moment !== null && moment > since && Number.isFinite(moment)) as number[];
  // What is open is not answered yet, however long ago its time was over: a fork may be parked for a limit of the past.
  const overdue = openWork(run).questions.flatMap(({ expiresAt }) => expiresAt ?? []);
  const all = [...moments, ...overdue];
  return all.length === 0 ? null : Math.min(...all);
}

/** When the workers' phase as a whole has taken too long. */
export function phaseOverAt(run: Run): number | null {
  const { timeout } = run.template.phases.workerExecution;
  if (timeout === undefined || run.phaseSince === null || run.heldSince !== undefined) return null;
  return mayStart(run) ? run.phaseSince + timeout : null;
}

const PHASE_TIMEOUTS = ["analysis", "taskPlanning", "aggregation", "verification"] as const;

/** A session that is paused, or waits for a person or its provider, has no deadline; that time does not count afterwards. */
export function deadlines(run: Run): Deadline[] {
  const { active, questions } = openWork(run);
  const waiting = new Set(questions.map((item) => item.sessionId));
  const found: Deadline[] = [];
  const phase = PHASE_TIMEOUTS.find((each: Phase) => each === run.main?.turn?.phase);
  if (run.main?.turn && phase && run.main.pausedAt === null && !waiting.has(run.main.sessionId)) {
    const at = run.main.turn.startedAt + run.template.phases[phase].timeout + run.main.waitedMs;
    found.push({ sessionId: run.main.sessionId, at });
  }
  for (const worker of active) {
    if (worker.status !== "running" || worker.startedAt === null || waiting.has(worker.sessionId)) continue;
    if (worker.session.refusedSince !== null) continue;
    const at = worker.startedAt + run.template.config.workerTimeout + worker.session.waitedMs;
    found.push({ sessionId: worker.sessionId, at });
  }
  return found;
}
