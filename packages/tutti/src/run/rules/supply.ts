// `supply` reopens a failed run with data that the user gives in place of a session.
import { apply } from "../apply.ts";
import { takeAnswer } from "../answers/take-answer.ts";
import { STATUS_OF } from "../lifecycle.ts";
import { noSuchItem } from "../lookup.ts";
import type { Answer } from "../../schema/answer.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { ANSWER_PHASE } from "../../schema/status.ts";

export function supply(run: Run, itemId: string, answer: Answer, at: number): RunEvent[] {
  const item = run.inbox[itemId];
  if (!item) throw noSuchItem(itemId);
  const { phase } = item;
  if (
    item.kind !== "data" ||
    phase === undefined ||
    phase === "workerExecution" ||
    ANSWER_PHASE[phase] !== answer.phase
  ) {
    throw new TuttiError(
      "wrong_state",
      `Inbox item "${itemId}" needs no data of ${answer.phase}. List open items with "tutti inbox".`,
    );
  }
  // The data belongs to the failure that asked for it. A run that was retried meanwhile (no `error` status) no longer
  // needs it.
  if (run.status !== "error")
    throw new TuttiError(
      "wrong_state",
      `Run "${run.id}" is ${run.status} and needs no data. List open items with "tutti inbox".`,
    );
  const reopened: RunEvent[] = [
    { type: "inbox:answered", data: { id: run.id, itemId, text: JSON.stringify(answer.data), withdrawn: false } },
    { type: "orchestrator:reopened", data: { id: run.id, phase, status: STATUS_OF[phase] } },
  ];
  const open = reopened.reduce(
    (state, event) => apply(state, { ...event, runSeq: state.runSeq + 1, timestamp: at }),
    run,
  );
  return [...reopened, ...takeAnswer(open, answer, { head: run.head! }, mustBeSound, at)];
}

/** Throws `invalid_plan`: unlike a session, the user is not asked for another try. */
export function mustBeSound(problems: string[]): RunEvent[] {
  if (problems.length === 0) return [];
  const message = `The plan is invalid: ${problems.join("; ")}. Correct the data and supply it again.`;
  throw new TuttiError("invalid_plan", message, { details: problems });
}
