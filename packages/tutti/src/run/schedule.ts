// `schedule` returns the desired state: live sessions, tasks to start, work to merge and deadlines. The engine compares it
// with the actual state and acts on the difference. It remembers no earlier actions, so a restart needs no special case.
import { minutesOverAt } from "./rules/budget.ts";
import { mainAgent, workerAgent, workerAgents } from "./rules/assign-agent.ts";
import { isBranchHeld, waitsForBranch, waitsForDecisions } from "./rules/collisions.ts";
import { taskOf, timedWorkers, workerOf } from "./lookup.ts";
import { isWaitingForSubSessions } from "./rules/natural.ts";
import { openWork } from "./fold/open-work.ts";
import { isHeldByInterface } from "./plan/interfaces.ts";
import { outlineOf } from "./plan/outline.ts";
import { providerOf } from "./provider/provider-name.ts";
import { mayAsk, refusalOf, refusedUntil } from "./provider/provider.ts";
import { scopesOverlap } from "./plan/scopes.ts";
import type { Run } from "../schema/run.ts";
import { acknowledgementTimes } from "./team/acknowledge.ts";
import { deadlineTimes } from "./team/deadline.ts";
import { isDelegating } from "./team/delegation.ts";
import { gateExpiries } from "./team/gate.ts";
import { isRunOver, type Phase } from "../schema/status.ts";
import type { Worker } from "../schema/worker.ts";

export interface Limits {
  /** Free slots of the engine, shared by all runs. */
  freeSlots: number;
  /**
   * Whether the engine has a slot for a worker of `agent` besides those of `chosen`. Without `hasSlot` only `freeSlots`
   * counts.
   */
  hasSlot?: (agent: string, chosen: readonly string[]) => boolean;
  /** Time of the last tick, if one was missed. Defaults to now. */
  since?: number;
}

export interface Deadline {
  sessionId: string;
  at: number;
}

export interface Wanted {
  spawnMain: boolean;
  /** Most urgent task first. */
  spawn: string[];
  /** Sessions that must be alive. */
  sessions: string[];
  /** Sessions that may stay alive but owe no answer. */
  idle: string[];
  /** See `mergesOf`. */
  merges: string[];
  deadlines: Deadline[];
  /** When the engine must send the next `tick`. */
  lookAt: number | null;
}

const NOTHING_WANTED: Wanted = {
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
  const { active } = openWork(run);
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const paused = run.status === "paused";
  // The worker that an open turn is about may have ended, so that the run waits for the end of the turn alone.
  const isBusy = run.owed !== null || main?.turn != null;
  return {
    spawnMain:
      !paused &&
      run.owed !== null &&
      main === null &&
      !waitsForDecisions(run) &&
      mayAsk(run, mainAgent(run).agent, now),
    spawn: startable(run, active, limits, now),
    sessions: [...(main && isBusy ? [main.sessionId] : []), ...active.map((worker) => worker.sessionId)],
    idle: main && !isBusy ? [main.sessionId] : [],
    merges: mergesOf(run),
    deadlines: deadlines(run),
    lookAt: nextLook(run, Math.min(now, limits.since ?? now)),
  };
}

/** Tasks with accepted work (`unmerged`) that may be merged now, in the order of acceptance. */
export function mergesOf(run: Run): string[] {
  if (isRunOver(run.status) || isBranchHeld(run)) return [];
  return openWork(run)
    .unmerged.filter((worker) => !isHeldByInterface(run, worker))
    .map(({ taskId }) => taskId);
}

/** Selects ready tasks for the free slots. With `overlappingScopes: "apart"` it skips overlaps with active tasks. */
function startable(run: Run, active: readonly Worker[], limits: Limits, now: number): string[] {
  const { parallelExecution, maxWorkers, spawnDelay, overlappingScopes } = run.template.config;
  const cap = parallelExecution ? maxWorkers : 1;
  const paced = spawnDelay > 0 ? 1 : Number.POSITIVE_INFINITY;
  const slots = Math.max(0, Math.min(limits.freeSlots, cap - countBusy(active), paced));
  if (slots === 0 || now < nextSpawnAt(run)) return [];
  const usable = usableAgents(run, limits, now);
  const chosen: string[] = [];
  const taken = active.map(({ task }) => task.scope);
  someReady(run, now, (taskId) => {
    const task = taskOf(run, taskId)!;
    if (overlappingScopes === "apart" && taken.some((other) => scopesOverlap(task.scope, other))) return false;
    if (!usable.take(workerAgent(run, task).agent)) return usable.isEmpty;
    taken.push(task.scope);
    return chosen.push(taskId) >= slots;
  });
  return chosen;
}

/** A session that waits for tasks that it delegated (`isDelegating`) leaves its slot to them. */
const countBusy = (active: readonly Worker[]): number => active.filter((worker) => !isDelegating(worker)).length;

/** Admits workers by their agents: after a refusal (`refusalOf`) a single session probes the provider. */
function usableAgents(run: Run, limits: Limits, now: number): { take(agent: string): boolean; isEmpty: boolean } {
  const chosen: string[] = [];
  const refused = new Set<string>();
  const probed = new Set<string>();
  const isUsable = (agent: string): boolean => {
    const provider = providerOf(agent, run.providers);
    if (probed.has(provider) || !mayAsk(run, agent, now)) return false;
    if (limits.hasSlot?.(agent, chosen) === false) return false;
    if (refusalOf(run, agent) !== null) probed.add(provider);
    chosen.push(agent);
    return true;
  };
  return {
    take(agent) {
      if (refused.has(agent)) return false;
      const usable = isUsable(agent);
      if (!usable) refused.add(agent);
      return usable;
    },
    /** Whether none of `workerAgents` is left, so that the search through a long plan can end. */
    get isEmpty() {
      return workerAgents(run).every((agent) => refused.has(agent));
    },
  };
}

const mayStart = ({ status }: Run): boolean => status === "spawning" || status === "running";

function isDue(run: Run, taskId: string, now: number): boolean {
  const notBefore = workerOf(run, taskId)?.notBefore ?? null;
  // `pausedBy` outlives a lost session: the task stays paused until the user resumes it.
  const isPaused = (workerOf(run, taskId)?.pausedBy ?? null) !== null;
  // A task that the main session delegated (`parent` null) builds on everything that was accepted before.
  const { delegation } = taskOf(run, taskId)!;
  const waitsForMerge = delegation?.parent === null && openWork(run).unmerged.length > 0;
  return !isPaused && (notBefore === null || now >= notBefore) && !waitsForMerge && !waitsForBranch(run, taskId);
}

/** Calls `test` for the tasks that can start, in start order, until it returns true. */
export function someReady(run: Run, now: number, test: (taskId: string) => boolean): boolean {
  return mayStart(run) && openWork(run).ready.some((taskId) => isDue(run, taskId, now) && test(taskId));
}

/** Checks the limits of the template: `maxWorkers`, `spawnDelay` and `overlappingScopes`. */
export function hasRoom(run: Run, taskId: string, now: number): boolean {
  const { parallelExecution, maxWorkers, overlappingScopes } = run.template.config;
  const { active } = openWork(run);
  if (countBusy(active) >= (parallelExecution ? maxWorkers : 1) || now < nextSpawnAt(run)) return false;
  const scope = taskOf(run, taskId)?.scope ?? [];
  return overlappingScopes === "allow" || !active.some(({ task }) => scopesOverlap(scope, task.scope));
}

/** Unlike `hasRoom`, checks the task alone: it is confirmed, not started and due, and its dependencies are met. */
export function isReady(run: Run, taskId: string, now: number): boolean {
  const { places, ranks } = outlineOf(run);
  const place = places.get(taskId);
  if (place === undefined || !mayStart(run)) return false;
  return openWork(run).ready.get(ranks[place]!) === taskId && isDue(run, taskId, now);
}

function nextSpawnAt(run: Run): number {
  return run.lastSpawnAt === null ? Number.NEGATIVE_INFINITY : run.lastSpawnAt + run.template.config.spawnDelay;
}

/** Returns the first time after `since` at which something is due that no session will report. */
function nextLook(run: Run, since: number): number | null {
  const moments = [
    ...(run.status === "paused" ? [] : [nextSpawnAt(run), phaseOverAt(run), minutesOverAt(run)]),
    ...openWork(run).waiting.map(({ notBefore }) => notBefore),
    refusedUntil(run, since),
    ...gateExpiries(run),
    ...acknowledgementTimes(run),
    ...deadlineTimes(run),
  ].filter((moment) => moment !== null && moment > since && Number.isFinite(moment)) as number[];
  // Expired items count even if they expired before `since`: a fork may wait for a limit that ended long ago.
  const overdue = openWork(run).questions.flatMap(({ expiresAt }) => expiresAt ?? []);
  const all = [...moments, ...overdue];
  return all.length === 0 ? null : Math.min(...all);
}

/** Returns null unless the phase `workerExecution` has a timeout that runs. */
export function phaseOverAt(run: Run): number | null {
  const { timeout } = run.template.phases.workerExecution;
  if (timeout === undefined || run.phaseSince === null || run.heldSince !== undefined) return null;
  return mayStart(run) ? run.phaseSince + timeout : null;
}

const PHASE_TIMEOUTS = ["analysis", "taskPlanning", "aggregation", "verification"] as const;

/** Paused sessions, and those that wait for the user, a provider or checks, have no deadline. `waitedMs` extends it afterwards. */
export function deadlines(run: Run): Deadline[] {
  const waiting = new Set(openWork(run).questions.map((item) => item.sessionId));
  const found: Deadline[] = [];
  // A session that waits for its sub-sessions (`waitsSince`) has no turn, but must not wait forever.
  const waitsSince = isWaitingForSubSessions(run) ? run.owed?.waitedSince : undefined;
  const since = run.main?.turn?.startedAt ?? waitsSince;
  const phase = PHASE_TIMEOUTS.find((each: Phase) => each === (run.main?.turn?.phase ?? run.owed?.phase));
  const isFree = run.main?.pausedAt === null && !waiting.has(run.main.sessionId) && !run.checks?.isRunning;
  if (run.main && since !== undefined && phase && isFree) {
    found.push({
      sessionId: run.main.sessionId,
      at: since + run.template.phases[phase].timeout + run.main.waitedMs,
    });
  }
  // The lead of a team answers a worker within `workerTimeout`, like a worker.
  if (run.main?.turn?.phase === "workerExecution" && run.main.pausedAt === null && !waiting.has(run.main.sessionId)) {
    const at = run.main.turn.startedAt + run.template.config.workerTimeout + run.main.waitedMs;
    found.push({ sessionId: run.main.sessionId, at });
  }
  for (const worker of timedWorkers(run)) {
    const at = worker.startedAt + run.template.config.workerTimeout + worker.session.waitedMs;
    found.push({ sessionId: worker.sessionId, at });
  }
  return found;
}
