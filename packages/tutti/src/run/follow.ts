// What follows by itself from the state a run is in: the next question to a session that is there, the end of tasks
// that can no longer start, the next phase, the end of the run.
import { taskStanding, completedVerdict } from "./census.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, type Phase, type RunStatus } from "../schema/status.ts";
import type { Owed, SessionState } from "../schema/worker.ts";

/** The next events that are due, or none. To be applied and asked again until none is left. */
export function follow(run: Run, at: number): RunEvent[] {
  if (isRunOver(run.status)) return [];
  const turns = dueTurns(run);
  if (turns.length > 0) return turns;
  if (run.status === "spawning" || run.status === "running") return followExecution(run, at);
  return [];
}

/** A session that is there, owes an answer and has no question before it, is asked. */
function dueTurns(run: Run): RunEvent[] {
  const due: RunEvent[] = [];
  if (run.main && isDue(run.main, run.owed)) due.push(startTurn(run.id, run.main, null, run.owed!));
  for (const worker of Object.values(run.workers)) {
    if (isDue(worker.session, worker.owed)) {
      due.push(startTurn(run.id, worker.session, worker.taskId, worker.owed!));
    }
  }
  return due;
}

const isDue = (session: SessionState, owed: Owed | null): boolean =>
  session.state === "running" && session.turn === null && owed !== null;

function startTurn(id: string, session: SessionState, taskId: string | null, owed: Owed): RunEvent {
  const { sessionId } = session;
  const data = { id, sessionId, taskId, turn: session.turns + 1, phase: owed.phase, try: owed.try };
  return { type: "turn:started", data };
}

function followExecution(run: Run, at: number): RunEvent[] {
  const blocked = newlyBlocked(run);
  if (blocked.length > 0) return blocked;
  if (run.status === "spawning" && Object.values(run.workers).some((worker) => worker.status !== "spawning")) {
    return [enter(run, "workerExecution", "running")];
  }
  const settled = run.tasks.every((task) => {
    const standing = taskStanding(run, task.id);
    const unmerged = standing === "completed" && run.workers[task.id]!.merged === "not yet";
    return standing !== "active" && standing !== "neverStarted" && !unmerged;
  });
  return settled ? afterExecution(run, at) : [];
}

/** A task cannot start once one of its dependencies has ended without completing, or is itself blocked. */
function newlyBlocked(run: Run): RunEvent[] {
  return run.tasks.flatMap((task): RunEvent[] => {
    if (taskStanding(run, task.id) !== "neverStarted") return [];
    const because = task.dependencies.filter((id) => {
      const standing = taskStanding(run, id);
      return standing === "failed" || standing === "timeout" || standing === "cancelled" || standing === "blocked";
    });
    return because.length > 0 ? [{ type: "task:blocked", data: { id: run.id, taskId: task.id, because } }] : [];
  });
}

function afterExecution(run: Run, at: number): RunEvent[] {
  const completed = run.tasks.filter((task) => taskStanding(run, task.id) === "completed").length;
  if (completed === 0) return [fail(run, "workerExecution", "no task completed", "nothing_completed", at)];
  // With one worker there is nothing to bring together.
  if (run.template.phases.aggregation.enabled && run.tasks.length > 1)
    return [enter(run, "aggregation", "aggregating")];
  return afterAggregation(run);
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
      outcome: completedVerdict(run),
    },
  };
}

/** The error that ends the run. */
export function fail(run: Run, operation: string, error: string, code: string, at: number): RunEvent {
  return errorOf(run, operation, error, code, at, true);
}

/** An error beside the run's own work, which ends nothing. */
export function mishap(run: Run, operation: string, error: string, code: string, at: number): RunEvent {
  return errorOf(run, operation, error, code, at, false);
}

function errorOf(run: Run, operation: string, error: string, code: string, at: number, fatal: boolean): RunEvent {
  const timestamp = new Date(at).toISOString();
  return { type: "orchestrator:error", data: { id: run.id, operation, error, timestamp, fatal, code } };
}
