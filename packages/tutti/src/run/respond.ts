// An answer to what the main session owes, given by somebody else: it counts as the session's own would.
import { apply } from "./apply.ts";
import { refused } from "./confirm.ts";
import { takeAnswer } from "./decide-main-answer.ts";
import { withdrawQuestions } from "./inbox.ts";
import { mustBeSound, supply } from "./supply.ts";
import type { Answer } from "../schema/answer.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE } from "../schema/status.ts";

/** Either the run is in the phase now, or it has failed for want of this very answer. */
export function respond(run: Run, answer: Answer, at: number): RunEvent[] {
  const item = Object.values(run.inbox).find(
    ({ kind, phase }) => kind === "data" && phase !== undefined && ANSWER_PHASE[phase] === answer.phase,
  );
  if (item) return supply(run, item.id, answer, at);
  if (run.owed === null || ANSWER_PHASE[run.owed.phase] !== answer.phase) {
    const owed = run.owed === null ? "nothing" : ANSWER_PHASE[run.owed.phase];
    throw refused(run, `given data of ${answer.phase}`, `it is ${run.status} and waits for ${owed}`);
  }
  const relieved = relieveMain(run);
  const open = relieved.reduce(
    (before, event) => apply(before, { ...event, runSeq: before.runSeq + 1, timestamp: at }),
    run,
  );
  const ended = (problems: string[]): RunEvent[] => [...mustBeSound(problems), ...relieved];
  return takeAnswer(open, answer, { head: run.head! }, ended, at);
}

/** What the session is asked now has been answered. It is ended, so that its own answer cannot be taken for the next one. */
function relieveMain(run: Run): RunEvent[] {
  const { main } = run;
  if (main === null || main.state === "over") return [];
  const data = { id: run.id, sessionId: main.sessionId, taskId: null };
  return [...withdrawQuestions(run, main.sessionId), { type: "main:relieved", data }];
}
