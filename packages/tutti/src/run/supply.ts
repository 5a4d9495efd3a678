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
  // Data belongs to the failure that asked for it; a run that goes on meanwhile, or went on and ended, has no use for it.
  if (run.status !== "error")
    throw new TuttiError("wrong_state", `run ${run.id} is ${run.status} and waits for no data`);
  const reopened: RunEvent[] = [
    { type: "inbox:answered", data: { id: run.id, itemId, text: JSON.stringify(answer.data), withdrawn: false } },
    { type: "orchestrator:reopened", data: { id: run.id, phase, status: STATUS_OF[phase] } },
  ];
  const open = reopened.reduce(
    (before, event) => apply(before, { ...event, runSeq: before.runSeq + 1, timestamp: at }),
    run,
  );
  return [...reopened, ...takeAnswer(open, answer, { head: run.head! }, mustBeSound, at)];
}

/** A person's data is taken as a whole or refused with what is wrong; nobody is asked again in its place. */
export function mustBeSound(problems: string[]): RunEvent[] {
  if (problems.length === 0) return [];
  const message = `the plan cannot be carried out: ${problems.join("; ")}`;
  throw new TuttiError("invalid_plan", message, { details: problems });
}
