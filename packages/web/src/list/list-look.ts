import { lookAtWork, runLook, type StatusStyle } from "../run/run-look.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";

/** `eventAt` is the time of the last event of the run, for events that do not change `updatedAt`. */
export const listLook = (run: ListedRun, questions: number, now: number, eventAt: number): StatusStyle =>
  lookAtWork(runLook(run.status, questions, run.outcome), {
    isHeld: run.heldSince !== undefined,
    quietForMs: now - Math.max(Date.parse(run.updatedAt), eventAt),
    quietAfterMs: run.quietAfterMs,
  });
