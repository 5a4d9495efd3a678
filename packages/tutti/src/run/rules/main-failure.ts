// The end of an attempt of the main session. After `loseMain` another session gets the phase; after too many losses the
// run waits, and the user decides. The work of tasks and of earlier phases is kept.
import { fail, mishap } from "../consequences.ts";
import { addItem } from "../inbox/inbox.ts";
import { pause } from "../lifecycle.ts";
import { MAX_LOSSES } from "./losses.ts";
import { FAILURE_OPTIONS, NEEDS_USER } from "./retry.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { SessionState } from "../../schema/worker.ts";

interface MainLoss {
  reason: string;
  /** The code of the `mishap`, if the run has to wait for the user. */
  code: string;
  /** False for losses that the engine causes. */
  counted?: boolean;
  /** Number of `mainLosses` in a row after which the run waits. */
  limit?: number;
}

/** Do not change the second of `WAITING_OPTIONS`: open items of older logs hold it. */
const WAITING_OPTIONS = [FAILURE_OPTIONS[0]!, sentence("cancel the run")];

export function loseMain(run: Run, main: SessionState, loss: MainLoss, at: number): RunEvent[] {
  const { reason, code, limit = MAX_LOSSES } = loss;
  // A pause interrupts the agent, which may end its process, and without `owed` the session had nothing to do.
  const counted = loss.counted !== false && run.status !== "paused" && run.owed !== null;
  const data = { id: run.id, sessionId: main.sessionId, taskId: null, reason, counted };
  const lost: RunEvent = { type: "main:lost", data };
  const isLast = counted && (run.mainLosses + 1 >= limit || NEEDS_USER.has(code));
  return isLast ? [lost, ...waitForUser(run, reason, code, at)] : [lost];
}

function waitForUser(run: Run, error: string, code: string, at: number): RunEvent[] {
  const phase = run.owed!.phase;
  return [
    mishap(run, phase, error, code, at),
    failureOfMain(run, phase, error, code, WAITING_OPTIONS, at),
    ...pause(run, "failure", error),
  ];
}

/** Unlike `loseMain`, ends the run. The user can still retry the phase. */
export function failMain(run: Run, operation: string, error: string, code: string, at: number): RunEvent[] {
  const phase = run.currentPhase ?? operation;
  return [failureOfMain(run, phase, error, code, FAILURE_OPTIONS, at), fail(run, operation, error, code, at)];
}

function failureOfMain(run: Run, phase: string, error: string, code: string, options: string[], at: number): RunEvent {
  const question = sentence("The phase {phase} did not complete: {error}", { phase, error });
  const evidence = { phase, error, code, attempt: run.main?.attempt ?? 0 };
  return addItem(run, { kind: "failure", question, options, evidence, risk: "medium" }, at);
}
