// `consequences` of a state and the time: the next turn of a session, blocked tasks, the next phase, an exhausted
// budget, the end of the run.
import { askForMore, exhaustedBudget, hasBudget } from "./rules/budget.ts";
import { mainAgent } from "./rules/assign-agent.ts";
import { isBranchHeld, isRepairing, requestRepair, waitsForDecisions } from "./rules/collisions.ts";
import { dependencyState, taskStanding } from "./census.ts";
import { completedVerdict } from "./outcome/outcome.ts";
import { endHolds } from "./emerging.ts";
import { confirm } from "./plan/confirm.ts";
import { raiseForeignChanges } from "./plan/interfaces.ts";
import { answerByDefault } from "./inbox/default-answer.ts";
import { addItem, withdrawQuestions } from "./inbox/inbox.ts";
import { activeWorkers, taskOf, workerOf, workersOf } from "./lookup.ts";
import { openWork } from "./fold/open-work.ts";
import { isToBeAsked, mayAsk, refusalOf } from "./provider/provider.ts";
import { providerOf } from "./provider/provider-name.ts";
import { isWaitingForSubSessions } from "./rules/natural.ts";
import { phaseOverAt, someReady } from "./schedule.ts";
import { FAILURE_OPTIONS } from "./rules/retry.ts";
import { sizeOf } from "./fold/shared-record.ts";
import {
  askParents,
  deliverReturned,
  endOrphans,
  hasDelegations,
  isLedByDelegation,
  openChildren,
  returnEndings,
} from "./team/delegation.ts";
import { closeOutdated, gateOf, isDeployment, isHeldBack, refuseDeployment } from "./team/gate.ts";
import { followMessages } from "./team/acknowledge.ts";
import { followDeadlines } from "./team/deadline.ts";
import { breakCircuit, isContinuous } from "./team/cycle.ts";
import { askLead } from "./team/lead-duty.ts";
import { deliverMessage } from "./team/team.ts";
import { sentence } from "../sentence.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_RECYCLE_AFTER, DEFAULT_RECYCLE_AT } from "../schema/team/roles.ts";
import type { AggregationAnswer } from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase, type RunStatus } from "../schema/status.ts";
import type { Owed, SessionState, Worker } from "../schema/worker.ts";

/**
 * Returns the next events that are due. The caller applies them and calls `consequences` again until it returns none.
 */
export function consequences(run: Run, at: number): RunEvent[] {
  if (isRunOver(run.status) || run.status === "created") return [];
  const overdue = answerByDefault(run, at);
  if (overdue.length > 0) return overdue;
  const closed = closeOutdated(run, at);
  if (closed.length > 0) return closed;
  if (run.status === "paused") return pauseWorkers(run);
  if (run.status === "confirming") {
    return run.template.config.autoSpawn && run.planErrors.length === 0 ? confirm(run, {}) : [];
  }
  const followed = followMessages(run, at);
  if (followed.length > 0) return followed;
  const raised = [...followDeadlines(run, at), ...raiseForeignChanges(run, at)];
  if (raised.length > 0) return raised;
  const released = endHolds(run);
  if (released.length > 0) return released;
  const broken = breakCircuit(run);
  if (broken.length > 0) return broken;
  const turns = dueTurns(run, at);
  const kind = hasBudget(run)
    ? exhaustedBudget(run, at, { turn: turns.length > 0, session: wantsSession(run, at) })
    : null;
  if (kind !== null && hasMoreToDo(run)) return askForMore(run, kind, at);
  // Starts no more turns than `budget.turns` has left. The next call asks the user for more.
  if (turns.length > 0) return turns.slice(0, (run.budget.turns ?? Number.POSITIVE_INFINITY) - run.turns).flat();
  if (run.status === "spawning" || run.status === "running") return followExecution(run, at);
  return [];
}

/** A worker can reach `running` while the run is paused. */
function pauseWorkers(run: Run): RunEvent[] {
  return activeWorkers(run)
    .filter((worker) => worker.status === "running")
    .map(({ sessionId, taskId }) => ({
      type: "worker:paused",
      data: { sessionId, orchestratorId: run.id, taskId, by: "run" },
    }));
}

const wantsSession = (run: Run, at: number): boolean =>
  (run.owed !== null && (run.main === null || run.main.state === "over")) ||
  (run.budget.descendants !== undefined && someReady(run, at, () => true));

/** Whether the run still needs turns. A run that only has to end does not `askForMore`. */
function hasMoreToDo(run: Run): boolean {
  return run.owed !== null || openWork(run).unfinished > 0;
}

/**
 * Starts a turn in every session that `isToBeAsked`, if its provider allows it. Each turn is a list of its own, with the
 * messages that it delivers.
 */
function dueTurns(run: Run, at: number): RunEvent[][] {
  const due: RunEvent[][] = [];
  // After a refusal a single turn probes the provider: `probed` holds those that got one.
  const probed = new Set<string>();
  const mayBeAsked = ({ agent }: SessionState): boolean => {
    const provider = providerOf(agent, run.providers);
    if (!mayAsk(run, agent, at) || probed.has(provider)) return false;
    if (refusalOf(run, agent) !== null) probed.add(provider);
    return true;
  };
  const { main, owed } = run;
  // A repair starts when nothing else is being merged (`unmerged`). One that continues holds the branch itself.
  const isStarting = isRepairing(run) && !isBranchHeld(run);
  const waits =
    waitsForDecisions(run) || (isStarting && openWork(run).unmerged.length > 0) || isWaitingForSubSessions(run);
  const active = activeWorkers(run);
  const refused =
    gateOf(run) === null
      ? []
      : active.filter(
          ({ task, session, owed }) =>
            isDeployment(run, task) && isToBeAsked(session, owed) && isHeldBack(run, task, session.start, at),
        );
  if (refused.length > 0) return refused.map((worker) => failDeployment(run, worker, at));
  if (main && owed && isToBeAsked(main, owed) && !waits) {
    const { agent, role } = mainAgent(run);
    // The session `isWornOut`, or the phase belongs to another agent or role, so it ends, even if its provider refuses.
    if (main.agent !== agent || main.role !== role || isWornOut(run, main)) {
      return [[{ type: "main:relieved", data: { id: run.id, sessionId: main.sessionId, taskId: null } }]];
    }
    if (mayBeAsked(main)) due.push([startTurn(run.id, main, null, owed), ...deliverReturned(run, null)]);
  }
  const ready = active.filter(({ status, session, owed }) => status === "running" && isToBeAsked(session, owed));
  for (const { session, sessionId, taskId, owed } of ready) {
    if (!mayBeAsked(session)) continue;
    const delivered = [...deliverMessage(run, sessionId), ...deliverReturned(run, taskId)];
    due.push([startTurn(run.id, session, taskId, owed!), ...delivered]);
  }
  return due;
}

/** Every prompt of a session that delegates sums up the work so far, so a new session can continue at any return. */
function isWornOut(run: Run, { turns, context }: SessionState): boolean {
  if (!isLedByDelegation(run) || run.owed?.try !== 1) return false;
  const { team } = run.template;
  const window = context?.window ?? team?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const isFull = context !== undefined && context.tokens >= window * (team?.recycleAt ?? DEFAULT_RECYCLE_AT);
  return isFull || turns >= (team?.recycleAfter ?? DEFAULT_RECYCLE_AFTER);
}

function startTurn(id: string, session: SessionState, taskId: string | null, owed: Owed): RunEvent {
  const { sessionId } = session;
  const data = { id, sessionId, taskId, turn: session.turns + 1, phase: owed.phase, try: owed.try };
  return { type: "turn:started", data };
}

function followExecution(run: Run, at: number): RunEvent[] {
  const over = phaseOverAt(run);
  if (over !== null && at >= over) {
    const ended = endPhase(run);
    if (ended.length > 0) return ended;
  }
  const orphans = hasDelegations(run) ? endOrphans(run) : [];
  if (orphans.length > 0) return orphans;
  const blocked = [...newlyBlocked(run, at), ...blockGated(run, at)];
  if (blocked.length > 0) return blocked;
  const { active, unmerged, unfinished } = openWork(run);
  if (run.status === "spawning") {
    const spawning = active.filter((worker) => worker.status === "spawning").length;
    if (sizeOf(run.workers) > spawning) return [enter(run, "workerExecution", "running")];
  }
  const returned = hasDelegations(run) ? returnEndings(run, at) : [];
  if (returned.length > 0) return returned;
  const ofLead = run.template.roles && !isLedByDelegation(run) ? askLead(run) : [];
  const asked = hasDelegations(run) ? [...ofLead, ...askParents(run)] : [];
  if (asked.length > 0) return asked;
  const repair = requestRepair(run, at);
  if (repair.length > 0) return repair;
  // The lead reports with its answer to the last task that returned; tasks that the user added return to no session.
  const isDone = !isLedByDelegation(run) || run.leadReport !== undefined || openChildren(run, null).length === 0;
  return unfinished === 0 && unmerged.length === 0 && run.owed === null && isDone ? afterExecution(run, at) : [];
}

/** `phaseOverAt` has passed: active tasks time out, and tasks that have not started are blocked. */
function endPhase(run: Run): RunEvent[] {
  if (openWork(run).unfinished === 0) return [];
  const error = sentence("the workerExecution phase timed out");
  return run.tasks.flatMap((task): RunEvent[] => {
    const standing = taskStanding(run, task.id);
    if (standing === "neverStarted") {
      return [{ type: "task:blocked", data: { id: run.id, taskId: task.id, because: [] } }];
    }
    if (standing !== "active") return [];
    const { sessionId, taskId } = workerOf(run, task.id)!;
    const data = { sessionId, orchestratorId: run.id, taskId, error, code: "phase_over" };
    return [...withdrawQuestions(run, sessionId), { type: "worker:timeout", data }];
  });
}

/** Blocks `doomed` tasks, or fails the run, depending on `failedDependency`. */
function newlyBlocked(run: Run, at: number): RunEvent[] {
  const { doomed } = openWork(run);
  if (doomed.size === 0) return [];
  const blocked = doomed.values().map((taskId) => {
    const { dependencies } = taskOf(run, taskId)!;
    return { taskId, because: dependencies.filter((id) => dependencyState(run, id) === "lost") };
  });
  const [first] = blocked;
  if (first && run.template.config.failedDependency === "fail") {
    const error = sentence("task {taskId} cannot start because {tasks} did not complete", {
      taskId: first.taskId,
      tasks: first.because.join(", "),
    });
    return [fail(run, "workerExecution", error, "dependency_failed", at)];
  }
  return blocked.flatMap((data): RunEvent[] => [
    { type: "task:blocked", data: { id: run.id, ...data } },
    ...(isDeployment(run, taskOf(run, data.taskId)!) ? refuse(run, data.taskId, at) : []),
  ]);
}

/** A task behind a closed gate is blocked until a user retries it. */
function blockGated(run: Run, at: number): RunEvent[] {
  if (gateOf(run) === null) return [];
  const held = [...openWork(run).ready.values()].filter((id) => isHeldBack(run, taskOf(run, id)!, null, at));
  return held.flatMap((taskId): RunEvent[] => [
    { type: "task:blocked", data: { id: run.id, taskId, because: [`the gate of ${gateOf(run)!.environment}`] } },
    ...(isDeployment(run, taskOf(run, taskId)!) ? refuse(run, taskId, at) : []),
  ]);
}

function refuse(run: Run, taskId: string, at: number): RunEvent[] {
  const refused = refuseDeployment(run, taskId, at);
  const { environment, reasons } = refused.data;
  const question = sentence("Task {taskId} was not started, because the gate of {environment} is closed. {reasons}", {
    taskId,
    environment,
    reasons: reasons.join(" "),
  });
  const item = {
    kind: "gate" as const,
    taskId,
    question,
    options: FAILURE_OPTIONS,
    evidence: { environment, reasons },
  };
  return [refused, addItem(run, { ...item, risk: "high" }, at)];
}

/** The gate closed between two turns of the deployment, or is open for another commit now (`isHeldBack`). */
function failDeployment(run: Run, { sessionId, taskId }: Worker, at: number): RunEvent[] {
  const refused = refuseDeployment(run, taskId, at);
  const { environment, reasons } = refused.data;
  const error = sentence("the gate of {environment} is closed: {detail}", { environment, detail: reasons.join(" ") });
  const data = { sessionId, orchestratorId: run.id, taskId, error, code: "gate_closed" };
  return [refused, { type: "worker:failed", data }];
}

function afterExecution(run: Run, at: number): RunEvent[] {
  return isContinuous(run) ? [enter(run, "taskPlanning", "planning")] : endExecution(run, at);
}

export function endExecution(run: Run, at: number): RunEvent[] {
  const standings = run.tasks.map((task) => taskStanding(run, task.id));
  const attempted = standings.filter((standing) => standing !== "skipped").length;
  if (attempted === 0) return [complete(run)];
  if (!standings.includes("completed")) {
    return [fail(run, "workerExecution", sentence("no task completed"), "nothing_completed", at)];
  }
  const { enabled, mergeStrategy, skipWhenIndependent } = run.template.phases.aggregation;
  // The result of a single task needs no aggregation.
  if (!enabled || attempted === 1) return afterAggregation(run);
  const independent = isIndependent(run);
  if (skipWhenIndependent && independent) return afterAggregation(run);
  const entered = enter(run, "aggregation", "aggregating");
  if (mergeStrategy !== "concatenate" || !independent) return [entered];
  const aggregation = concatenate(run);
  const merged: RunEvent = { type: "orchestrator:aggregated", data: { id: run.id, aggregation, head: run.head! } };
  return [entered, merged, ...afterAggregation({ ...run, currentPhase: "aggregation", aggregation })];
}

const isIndependent = (run: Run): boolean => run.conflicts.length === 0 && !filesOverlap(run);

/** Whether no session aggregates the work of the tasks, so that none sees the facts about it (`endExecution`). */
export function skipsAggregation(run: Run): boolean {
  const { enabled, mergeStrategy, skipWhenIndependent } = run.template.phases.aggregation;
  return !enabled || ((skipWhenIndependent || mergeStrategy === "concatenate") && isIndependent(run));
}

function filesOverlap(run: Run): boolean {
  const seen = new Set<string>();
  return workersOf(run).some(({ status, outputFiles }) => {
    if (status !== "completed") return false;
    const repeated = outputFiles.some((file) => seen.has(file));
    for (const file of outputFiles) seen.add(file);
    return repeated;
  });
}

/** Results that share no file need no session: the branch already holds all files, so only the outputs are joined. */
function concatenate(run: Run): AggregationAnswer {
  const done = run.tasks.flatMap((task) => {
    const worker = workerOf(run, task.id);
    return worker?.status === "completed" ? [worker] : [];
  });
  const words = done.map(
    ({ task, output }) => `${task.title}\n${typeof output === "string" ? output : JSON.stringify(output)}`,
  );
  return {
    status: "success",
    summary: `${done.length} results that share no file`,
    merged_output: words.join("\n\n"),
    output_files: done.flatMap(({ outputFiles }) => outputFiles),
  };
}

export function afterAggregation(run: Run): RunEvent[] {
  if (run.template.phases.verification.enabled) return [enter(run, "verification", "verifying")];
  return [complete(run)];
}

export function enter(run: Run, phase: Phase, status: RunStatus): RunEvent {
  const data = { id: run.id, previousPhase: run.currentPhase, currentPhase: phase, status };
  return { type: "orchestrator:phaseChanged", data };
}

export function complete(run: Run): RunEvent {
  return {
    type: "orchestrator:completed",
    data: {
      id: run.id,
      status: "completed",
      aggregation: run.aggregation,
      stats: run.toolStats,
      // Use the final status, because `completedVerdict` counts unstarted tasks only in an ended run.
      outcome: completedVerdict({ ...run, status: "completed" }),
    },
  };
}

export function fail(run: Run, operation: string, error: string, code: string, at: number): RunEvent {
  return errorOf(run, operation, error, code, at, true);
}

/** Unlike `fail`, does not end the run. */
export function mishap(run: Run, operation: string, error: string, code: string, at: number): RunEvent {
  return errorOf(run, operation, error, code, at, false);
}

function errorOf(run: Run, operation: string, error: string, code: string, at: number, fatal: boolean): RunEvent {
  const timestamp = new Date(at).toISOString();
  return { type: "orchestrator:error", data: { id: run.id, operation, error, timestamp, fatal, code } };
}
