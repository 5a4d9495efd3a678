import { noSuchTask, taskOf, workerOf } from "./lookup.ts";
import { TuttiError } from "../schema/error.ts";
import { attemptRef, savedRef } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";

interface ComparedCommits {
  base: string;
  head: string;
  /** Ref of work that is newer than `head`, if it exists: it was saved during a turn. */
  unfinished: string | null;
}

/**
 * The difference between `base` and `head` is the work of the run so far, or of the newest attempt at `taskId`. The
 * work of an attempt that did not complete is at its `attemptRef`.
 */
export function comparedCommits(run: Run, taskId: string | null): ComparedCommits {
  if (taskId === null) {
    if (run.base !== null) return { base: run.base, head: run.head ?? run.base, unfinished: null };
    throw new TuttiError("wrong_state", `Run "${run.id}" has not started. Start it with "tutti start ${run.id}".`);
  }
  if (!taskOf(run, taskId)) throw noSuchTask(run, taskId);
  const worker = workerOf(run, taskId);
  // `rework` started from the work of all merged tasks and of its own earlier attempt.
  const base = worker?.rework?.head ?? worker?.session.start;
  if (!worker || !base) throw noWork(run, taskId);
  if (worker.commit !== null) return { base, head: worker.commit, unfinished: null };
  const head = attemptRef(run.id, taskId, worker.attempt);
  return { base, head, unfinished: savedRef(head) };
}

/** For revisions of `comparedCommits` that the repository does not have. */
export const noWork = ({ id, cwd }: Run, taskId: string | null): TuttiError =>
  taskId === null
    ? new TuttiError("wrong_state", `The repository "${cwd}" has no result of run "${id}". Start the run again.`)
    : new TuttiError(
        "wrong_state",
        `Task "${taskId}" of run "${id}" has no result yet. Show its state with "tutti status ${id}".`,
      );
