// When a result that was made before may stand for a task.
//
// Invariants
// 1. Only what was accepted as a whole success is taken over; a partial result is worth another try.
// 2. One result stands for at most one task of a run: two tasks that read alike are still two pieces of work.
// 3. What a person wants done anew is done anew.
import type { Report } from "./command.ts";
import { workersOf } from "./lookup.ts";
import type { CompletionAnswer } from "../schema/answer.ts";
import type { EventData, RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Origin, Worker } from "../schema/worker.ts";

/** An accepted result, with the attempt that made it. */
export interface KnownResult {
  origin: Origin;
  output: unknown;
  report: CompletionAnswer;
  commit: string;
}

/** Whether others may build on this completion as if it were their own. */
export const isWhole = ({ partial, report }: EventData<"worker:completed">): boolean =>
  !partial && report.status === "success";

const isSame = (one: Origin, other: Origin): boolean => one.run === other.run && one.sessionId === other.sessionId;

/** Whether the result may stand for this worker's task. */
export function mayStandFor(run: Run, worker: Worker, { origin }: KnownResult): boolean {
  if (worker.status !== "spawning" || worker.anew) return false;
  return !workersOf(run).some(({ reused }) => reused !== null && isSame(reused, origin));
}

/** The task is complete without a session: the same work is there already. */
export function takeOver(run: Run, worker: Worker, known: Extract<Report, { type: "known" }>): RunEvent[] {
  const { key, result, work } = known;
  if (!mayStandFor(run, worker, result)) return [];
  const { sessionId, taskId } = worker;
  const { output, origin } = result;
  const data = {
    sessionId,
    orchestratorId: run.id,
    taskId,
    output,
    outputFiles: work.files,
    report: { ...result.report, task_id: taskId },
    commit: work.commit,
    partial: false,
    reused: { ...origin, key },
  };
  return [{ type: "worker:completed", data }];
}
