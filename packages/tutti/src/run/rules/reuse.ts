// Rules for the reuse of an earlier result for a task.
//
// Invariants
// 1. Only a full success is reused. A partial result gets another attempt.
// 2. A result is reused for at most one task of a run, because two identical tasks are still two pieces of work.
// 3. A task that the user retried or sent a message to (`worker.anew`) reuses no result.
import type { Report } from "../command.ts";
import { workersOf } from "../lookup.ts";
import { isDelegated } from "../team/delegation.ts";
import { isDeployment, isReview } from "../team/gate.ts";
import type { CompletionAnswer } from "../../schema/answer.ts";
import type { EventData, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Origin, Worker } from "../../schema/worker.ts";

export interface KnownResult {
  origin: Origin;
  output: unknown;
  report: CompletionAnswer;
  commit: string;
  warnings?: string[];
}

export const isWhole = ({ partial, report }: EventData<"worker:completed">): boolean =>
  !partial && report.status === "success";

const isSame = (one: Origin, other: Origin): boolean => one.run === other.run && one.sessionId === other.sessionId;

export function mayStandFor(run: Run, worker: Worker, { origin }: KnownResult): boolean {
  if (worker.status !== "spawning" || worker.anew) return false;
  // A task that `isReview` approves a commit, and a deployment needs an approval; an earlier run proves neither.
  if (isReview(run, worker.task) || isDeployment(run, worker.task)) return false;
  // The session that delegated the task waits for its report.
  if (isDelegated(run, worker.task)) return false;
  return !workersOf(run).some(({ reused }) => reused !== null && isSame(reused, origin));
}

export function takeOver(run: Run, worker: Worker, known: Extract<Report, { type: "known" }>): RunEvent[] {
  const { key, result, work } = known;
  if (!mayStandFor(run, worker, result)) return [];
  const { sessionId, taskId } = worker;
  const { output, origin, warnings } = result;
  const data = {
    sessionId,
    orchestratorId: run.id,
    taskId,
    output,
    outputFiles: work.files,
    report: { ...result.report, task_id: taskId },
    commit: work.commit,
    partial: false,
    ...(warnings ? { warnings } : {}),
    reused: { ...origin, key },
  };
  return [{ type: "worker:completed", data }];
}
