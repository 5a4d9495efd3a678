// What no session could answer, given by a person: the run goes on from where it had failed.
import { apply } from "./apply.ts";
import { takeAnswer } from "./decide-main-answer.ts";
import type { Answer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, type Phase, type RunStatus } from "../schema/status.ts";

const STATUS_OF: Record<Exclude<Phase, "workerExecution">, RunStatus> = {
  analysis: "analyzing",
  taskPlanning: "planning",
  aggregation: "aggregating",
  verification: "verifying",
};

export function supply(run: Run, itemId: string, answer: Answer, at: number): RunEvent[] {
  const item = run.inbox[itemId];
  if (!item) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
  const { phase } = item;
  if (
    item.kind !== "data" ||
    phase === undefined ||
    phase === "workerExecution" ||
    ANSWER_PHASE[phase] !== answer.phase
  ) {
    throw new TuttiError("wrong_state", `${itemId} does not wait for data of ${answer.phase}`);
  }
  const reopened: RunEvent[] = [
    { type: "inbox:answered", data: { id: run.id, itemId, text: JSON.stringify(answer.data), withdrawn: false } },
    { type: "orchestrator:reopened", data: { id: run.id, phase, status: STATUS_OF[phase] } },
  ];
  const open = reopened.reduce(
    (before, event) => apply(before, { ...event, runSeq: before.runSeq + 1, timestamp: at }),
    run,
  );
  return [...reopened, ...takeAnswer(open, answer, { head: run.head! }, () => [], at)];
}
