import { exhaustedBudget } from "./budget.ts";
import { retriesOfRefused } from "./retry.ts";
import { refused } from "../plan/confirm.ts";
import { withdraw } from "../inbox/inbox.ts";
import { resumed } from "../lifecycle.ts";
import { valuesOf } from "../fold/shared-record.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

/**
 * Resumes a run for the user, unless it waits for decisions or its budget is exhausted. Tasks that a provider refused are
 * retried, because the user resumes the run after the advice to log in or to pay.
 */
export function resume(run: Run, at: number): RunEvent[] {
  const { pausedFrom } = run;
  if (run.status !== "paused" || !pausedFrom) throw refused(run, "resumed", `it is ${run.status}, not paused`);
  if (Object.values(run.inbox).some(({ kind }) => kind === "decision")) {
    throw refused(run, "resumed", "it waits for decisions. Answer them in its inbox first");
  }
  const asking = valuesOf(run.inbox).find((item) => item.kind === "budget");
  if (asking && exhaustedBudget(run, at, { turn: true, session: true }) !== null) {
    const message = `Run "${run.id}" cannot be resumed: its budget is used up. Answer inbox item "${asking.id}" first.`;
    throw new TuttiError("budget_exhausted", message, { details: asking.evidence });
  }
  // If a budget is used up without an open item, `follow` asks for more at once.
  const settled = withdraw(run, ({ kind }) => kind === "budget" || kind === "limit");
  return [...settled, ...retriesOfRefused(run), ...resumed(run)];
}
