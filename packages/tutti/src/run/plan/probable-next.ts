// `probableNext` guesses the next start, so that the engine can prepare it while other tasks run. A wrong guess costs only
// the preparation.
import { taskStanding } from "../census.ts";
import { openWork } from "../fold/open-work.ts";
import { workerOf } from "../lookup.ts";
import { outlineOf } from "./outline.ts";
import type { Run } from "../../schema/run.ts";

export interface ProbableStart {
  taskId: string;
  /** Close to the commit at which the task will start. */
  commit: string;
}

/**
 * Guesses the task that starts next: the first in `ready` without a worker, or else the `firstDependent`. Null while a
 * session is starting, because the preparation would slow that start down.
 */
export function probableNext(run: Run): ProbableStart | null {
  const { active, ready } = openWork(run);
  const { template, base, head } = run;
  if (run.status !== "running" || base === null || active.length === 0) return null;
  if (active.some(({ session }) => session.state !== "running")) return null;
  // A fork may reuse a result without a workspace, and a sparse workspace is made in a moment.
  if (run.forkedFrom !== null || template.workspace?.sparse) return null;
  let taskId: string | null = null;
  ready.some((id) => {
    if (workerOf(run, id) === undefined) taskId = id;
    return taskId !== null;
  });
  taskId ??= firstDependent(run);
  if (taskId === null) return null;
  const { places, needs } = outlineOf(run);
  const isIndependent = needs[places.get(taskId)!]!.length === 0;
  return { taskId, commit: isIndependent ? base : (head ?? base) };
}

function firstDependent(run: Run): string | null {
  const { active, met } = openWork(run);
  const { places, needs, dependents, ranks } = outlineOf(run);
  const atWork = new Set(active.map(({ taskId }) => places.get(taskId)));
  let first: number | null = null;
  for (const place of atWork) {
    for (const candidate of place === undefined ? [] : dependents[place]!) {
      const missing = needs[candidate]!.filter((need) => atWork.has(need)).length;
      const isNext = (met.get(candidate) ?? 0) + missing === needs[candidate]!.length;
      if (!isNext || taskStanding(run, run.tasks[candidate]!.id) !== "neverStarted") continue;
      if (workerOf(run, run.tasks[candidate]!.id) !== undefined) continue;
      if (first === null || ranks[candidate]! < ranks[first]!) first = candidate;
    }
  }
  return first === null ? null : run.tasks[first]!.id;
}
