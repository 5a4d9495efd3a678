// Conflicts between tasks that are still at work, found by merging their saved work. `emergingConflicts` decides
// whether the task that started later waits for the other one.
import { activeWorkers, taskOf, workerOf } from "./lookup.ts";
import type { Report } from "./command.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import type { Worker } from "../schema/worker.ts";

/** A task that waits for those that it delegated holds no other one: these tasks may need that one to end. */
const isAtWork = (worker: Worker | undefined): worker is Worker =>
  worker !== undefined && worker.session.state !== "over" && worker.delegating == null;

export const emergingBetween = (run: Run, one: string, other: string): string[] =>
  run.emerging?.find(({ tasks }) => tasks.includes(one) && tasks.includes(other))?.files ?? [];

/** Records a conflict that has appeared, changed or disappeared between two active tasks. */
export function noteEmerging(run: Run, { tasks, files }: Extract<Report, { type: "emerging" }>): RunEvent[] {
  // `activeWorkers` are in the order of their first start.
  const [earlier, later] = activeWorkers(run).filter(({ taskId }) => tasks.includes(taskId));
  if (!earlier || !later) return [];
  const known = emergingBetween(run, earlier.taskId, later.taskId);
  if (known.join("\n") === files.join("\n")) return [];
  const data = { id: run.id, tasks: [earlier.taskId, later.taskId], files };
  const mayHold = run.template.config.emergingConflicts === "hold" && isAtWork(earlier);
  const isHeld = mayHold && known.length === 0 && later.status === "running";
  return [{ type: "conflict:emerging", data }, ...(isHeld ? [hold(run, later)] : [])];
}

const hold = (run: Run, { sessionId, taskId }: Worker): RunEvent => ({
  type: "worker:paused",
  data: { sessionId, orchestratorId: run.id, taskId, by: "conflict" },
});

/** The conflicts of `taskId` with tasks that started earlier. */
const opponentsOf = (run: Run, taskId: string) =>
  (run.emerging ?? []).filter(({ tasks, files }) => tasks[1] === taskId && files.length > 0);

/** Resumes workers with `pausedBy: "conflict"` when the conflict is gone or none of their `opponentsOf` `isAtWork`. */
export const endHolds = (run: Run): RunEvent[] =>
  activeWorkers(run)
    .filter(({ pausedBy }) => pausedBy === "conflict")
    .filter(({ taskId }) => !opponentsOf(run, taskId).some(({ tasks }) => isAtWork(workerOf(run, tasks[0]!))))
    .map(({ sessionId, taskId }) => ({ type: "worker:resumed", data: { sessionId, orchestratorId: run.id, taskId } }));

/** For the prompt of a task that waited for its `opponentsOf`. */
export const describeOpponents = (run: Run, taskId: string): string[] =>
  opponentsOf(run, taskId).map(({ tasks: [other = ""], files }) => {
    const { title = "" } = taskOf(run, other) ?? {};
    const { summary, commit } = workerOf(run, other) ?? {};
    const work = commit ? ` See its version of a file with: git show ${commit}:PATH` : "";
    return `The task ${other} (${title}) has changed the same lines of ${files.join(", ")}. Keep to its changes there.${summary ? ` Its summary: ${summary}` : ""}${work}`;
  });
