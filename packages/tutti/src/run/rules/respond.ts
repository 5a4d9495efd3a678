import { apply } from "../apply.ts";
import { refused } from "../plan/confirm.ts";
import { takeAnswer } from "../answers/take-answer.ts";
import { withdrawQuestions } from "../inbox/inbox.ts";
import { mustBeSound, supply } from "./supply.ts";
import type { Answer } from "../../schema/answer.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { ANSWER_PHASE } from "../../schema/status.ts";

/** Accepts an answer in place of the main session: `run.owed` needs it, or the run failed without it (`supply`). */
export function respond(run: Run, answer: Answer, at: number): RunEvent[] {
  const item = Object.values(run.inbox).find(
    ({ kind, phase }) => kind === "data" && phase !== undefined && ANSWER_PHASE[phase] === answer.phase,
  );
  if (item) return supply(run, item.id, answer, at);
  if (run.owed === null || ANSWER_PHASE[run.owed.phase] !== answer.phase) {
    const owed = run.owed === null ? "nothing" : ANSWER_PHASE[run.owed.phase];
    throw refused(run, `given data of ${answer.phase}`, `it is ${run.status} and needs ${owed}`);
  }
  const relieved = relieveMain(run);
  const open = relieved.reduce(
    (state, event) => apply(state, { ...event, runSeq: state.runSeq + 1, timestamp: at }),
    run,
  );
  const ended = (problems: string[]): RunEvent[] => [...mustBeSound(problems), ...relieved];
  return takeAnswer(open, answer, { head: run.head! }, ended, at);
}

/** Its own late answer must not count for the next phase, so `main:relieved` ends the main session. */
function relieveMain(run: Run): RunEvent[] {
  const { main } = run;
  if (main === null || main.state === "over") return [];
  const data = { id: run.id, sessionId: main.sessionId, taskId: null };
  return [...withdrawQuestions(run, main.sessionId), { type: "main:relieved", data }];
}
