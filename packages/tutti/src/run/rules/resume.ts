import { exhaustedBudget } from "./budget.ts";
import { retriesOfRefused } from "./retry.ts";
import { refused } from "../plan/confirm.ts";
import { isOfMain, withdraw } from "../inbox/inbox.ts";
import { canResumeMain, failedPhase, resumed, STATUS_OF } from "../lifecycle.ts";
import { valuesOf } from "../fold/shared-record.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

/**
 * Resumes a run for the user, unless it waits for decisions or its budget is exhausted. Tasks that a provider refused
 * are retried (`retriesOfRefused`), because the user resumes the run after the advice to log in or to pay. A run that
 * ended with an error of its main session is reopened in the phase that failed.
 */
export function resume(run: Run, at: number): RunEvent[] {
  const { pausedFrom } = run;
  const phase = failedPhase(run);
  if (phase !== null) {
    const data = { id: run.id, phase, status: STATUS_OF[phase] };
    return [...withdraw(run, isOfMain), { type: "orchestrator:reopened", data }];
  }
  if (run.status !== "paused" || !pausedFrom) throw refused(run, "resumed", `it is ${run.status}, not paused`);
  if (Object.values(run.inbox).some(({ kind }) => kind === "decision")) {
    throw refused(run, "resumed", "it waits for decisions", "Answer them in its inbox first.");
  }
  const asking = valuesOf(run.inbox).find((item) => item.kind === "budget");
  if (asking && exhaustedBudget(run, at, { turn: true, session: true }) !== null) {
    const message = `Run "${run.id}" cannot be resumed: its budget is used up. Answer inbox item "${asking.id}" first.`;
    throw new TuttiError("budget_exhausted", message, { details: asking.evidence });
  }
  // If a budget is used up without an open item, `consequences` asks for more at once.
  const settled = withdraw(run, (item) => item.kind === "budget" || item.kind === "limit" || isOfMain(item));
  return [...settled, ...retriesOfRefused(run), ...resumed(run)];
}

/** Throws unless a phase of the main session did not complete (`canResumeMain`). */
export function retryMain(run: Run, at: number): RunEvent[] {
  if (canResumeMain(run)) return resume(run, at);
  const advice = `No phase of its main session failed. Name a task that did not complete: "tutti status ${run.id}" shows them.`;
  throw refused(run, "retried", `it is ${run.status}`, advice);
}
