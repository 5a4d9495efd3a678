// `steps` shows the five phases. A phase that the template disables, or that had nothing to do, is `skipped`, not
// `done`.
import { translate } from "../text/language.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, PHASES, type Phase } from "../../../tutti/src/schema/status.ts";

export type StepState = "done" | "partly" | "current" | "paused" | "waiting" | "ahead" | "skipped" | "stopped";
export interface Step {
  phase: Phase;
  name: string;
  state: StepState;
  note: string;
}

const NAMES: Record<Phase, string> = {
  analysis: translate("Analysis"),
  taskPlanning: translate("Plan"),
  workerExecution: translate("Work"),
  aggregation: translate("Merge#phase"),
  verification: translate("Verify#phase"),
};

const NOTES: Record<StepState, string> = {
  done: translate("done"),
  partly: "",
  current: translate("in progress"),
  paused: translate("paused"),
  waiting: translate("waits for you"),
  ahead: "",
  skipped: translate("skipped"),
  stopped: translate("stopped here"),
};

export function steps(run: Run): Step[] {
  return PHASES.map((phase) => {
    const state = stateOf(run, phase);
    if (phase !== "workerExecution") return { phase, name: NAMES[phase], state, note: NOTES[state] };
    return workStep(run, state);
  });
}

function stateOf(run: Run, phase: Phase): StepState {
  const at = run.currentPhase === null ? -1 : PHASES.indexOf(run.currentPhase);
  const here = PHASES.indexOf(phase);
  if (wasSkipped(run, phase)) return "skipped";
  if (run.status === "completed" || here < at) return "done";
  if (here > at) return "ahead";
  if (isRunOver(run.status)) return "stopped";
  if (run.status === "paused") return "paused";
  return run.status === "confirming" ? "waiting" : "current";
}

function wasSkipped(run: Run, phase: Phase): boolean {
  if (phase !== "workerExecution" && !run.template.phases[phase].enabled) return true;
  if (run.status !== "completed") return phase === "aggregation" && run.tasks.length === 1;
  return (phase === "aggregation" && !run.aggregation) || (phase === "verification" && !run.verification);
}

/** Only `workerExecution` shows a count, and only it can end without all its tasks completed (`partly`). */
function workStep(run: Run, state: StepState): Step {
  const included = run.tasks.filter((task) => !Object.hasOwn(run.skipped, task.id));
  const done = included.filter((task) => run.workers[task.id]?.status === "completed").length;
  const counted = state === "current" || state === "done";
  return {
    phase: "workerExecution",
    name: NAMES.workerExecution,
    state: state === "done" && done < included.length ? "partly" : state,
    note: counted ? translate("{done} of {included}", { done, included: included.length }) : NOTES[state],
  };
}
