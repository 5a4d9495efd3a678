import type { PlanChanges, TaskChange } from "../command.ts";
import { parallelGroups } from "./graph.ts";
import { answered } from "../inbox/inbox.ts";
import { checkPlan } from "./plan.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { Task } from "../../schema/task.ts";

/** Confirms the plan, its `changes` and its budget together, or rejects all of them. */
export function confirm(run: Run, changes: PlanChanges, hash?: string): RunEvent[] {
  if (run.status !== "confirming") throw refused(run, "confirmed", `it is ${run.status}, not confirming`);
  const item = Object.values(run.inbox).find(({ kind }) => kind === "plan");
  if (hash !== undefined && item?.hash !== hash) {
    throw refused(run, "confirmed", "the plan has changed since you saw it. Review the new plan and confirm it again");
  }
  const { tasks, skipped } = changedPlan(run, changes);
  const { errors } = checkPlan(tasks, run.template);
  if (errors.length > 0) throw invalidPlan(run, errors);
  const budget = { ...run.budget, ...changes.budget };
  const data = { taskCount: tasks.length, tasks, parallelGroups: parallelGroups(tasks), skipped, budget };
  return [
    ...settle(run, "approved"),
    { type: "orchestrator:confirmed", data: { id: run.id, ...data } },
    {
      type: "orchestrator:phaseChanged",
      data: { id: run.id, previousPhase: run.currentPhase, currentPhase: "workerExecution", status: "spawning" },
    },
  ];
}

/** Throws `invalid_plan` if the changes do not fit the plan. Does not check the plan as a whole. */
export function changedPlan(run: Run, changes: PlanChanges): { tasks: Task[]; skipped: Run["skipped"] } {
  const { tasks: byId = {}, added = [], removed = [] } = changes;
  const known = new Set([...run.tasks, ...added].map(({ id }) => id));
  const unknown = [...Object.keys(byId), ...removed].filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw invalidPlan(
      run,
      unknown.map((id) => `the plan has no task ${id}`),
    );
  const removedIds = new Set(removed);
  const skipped: Run["skipped"] = {};
  const tasks = [...run.tasks, ...added]
    .filter(({ id }) => !removedIds.has(id))
    .map((task) => {
      const { skip, satisfied = false, ...edits } = Object.hasOwn(byId, task.id) ? byId[task.id]! : {};
      if (skip) skipped[task.id] = { satisfied };
      const parsed = Task.safeParse(withChanges(task, edits));
      if (parsed.success) return parsed.data;
      const problems = parsed.error.issues.map(({ path, message }) => `task ${task.id}, ${path.join(".")}: ${message}`);
      throw invalidPlan(run, problems);
    });
  return { tasks, skipped };
}

function withChanges(task: Task, edits: Omit<TaskChange, "skip" | "satisfied">): object {
  const changed = { ...task, ...edits, id: task.id };
  // The model of the plan belongs to the agent of the plan.
  const model = edits.agent === undefined ? changed.model : edits.model;
  return Object.fromEntries(Object.entries({ ...changed, model }).filter(([, value]) => value !== null));
}

function invalidPlan(run: Run, errors: string[]): TuttiError {
  const message = `The plan of run "${run.id}" is invalid: ${errors.join("; ")}. Change the plan or request another one.`;
  return new TuttiError("invalid_plan", message, { details: errors });
}

export function requestChanges(run: Run, text: string): RunEvent[] {
  if (run.status !== "confirming") throw refused(run, "replanned", `it is ${run.status}, not confirming`);
  if (text.trim() === "") {
    throw new TuttiError(
      "invalid_input",
      "The requested change is empty. Describe what the plan should do differently.",
    );
  }
  return [...settle(run, text), { type: "orchestrator:changesRequested", data: { id: run.id, text } }];
}

const settle = (run: Run, text: string): RunEvent[] =>
  Object.values(run.inbox)
    .filter(({ kind }) => kind === "plan")
    .map((item) => answered(run, item, text));

/** `why` continues the sentence after a colon, without a full stop. A second sentence may say what to do. */
export const refused = (run: Run, verb: string, why: string): TuttiError =>
  new TuttiError("wrong_state", `Run "${run.id}" cannot be ${verb}: ${why}.`, { details: { status: run.status } });
