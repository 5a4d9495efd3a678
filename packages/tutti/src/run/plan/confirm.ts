import type { History, PlanChanges, TaskChange } from "../command.ts";
import { estimatePlan } from "./estimate.ts";
import { parallelGroups } from "./graph.ts";
import { addItem, answered } from "../inbox/inbox.ts";
import { checkPlan, soundOrder, type Plan } from "./plan.ts";
import { forbiddenChanges } from "../team/pipeline.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import { Task } from "../../schema/task.ts";
import { leadOf, workingRoles } from "../../schema/team/roles.ts";
import { sentence } from "../../sentence.ts";

/** The plan, its `changes` and its budget are confirmed together or rejected together. */
export function confirm(run: Run, changes: PlanChanges, hash?: string): RunEvent[] {
  const { tasks, skipped } = reviewedPlan(run, changes, hash, "confirmed");
  const budget = { ...run.budget, ...changes.budget };
  // The log has the planned tasks already. Storing a long plan again would delay the first starts.
  const plan = tasks === run.tasks ? {} : { tasks, parallelGroups: parallelGroups(tasks) };
  const data = { taskCount: tasks.length, ...plan, skipped, budget };
  return [
    ...settle(run, sentence("approved")),
    { type: "orchestrator:confirmed", data: { id: run.id, ...data } },
    {
      type: "orchestrator:phaseChanged",
      data: { id: run.id, previousPhase: run.currentPhase, currentPhase: "workerExecution", status: "spawning" },
    },
  ];
}

/** The user is asked again about the changed plan (`askToConfirm`). */
export function editPlan(run: Run, changes: PlanChanges, hash: string | undefined, at: number): RunEvent[] {
  const { tasks, warnings } = reviewedPlan(run, changes, hash, "edited");
  const plan: Plan = { tasks, errors: [], warnings, executionOrder: soundOrder(tasks, run.executionOrder) };
  const data = { taskCount: tasks.length, parallelGroups: parallelGroups(tasks), ...plan };
  return [
    ...settle(run, sentence("edited")),
    { type: "orchestrator:tasksReady", data: { id: run.id, ...data } },
    askToConfirm(run, plan, undefined, at),
  ];
}

/**
 * Throws unless the run waits for the confirmation of the plan with this `hash`, and `checkPlan` accepts the changed
 * plan.
 */
function reviewedPlan(run: Run, changes: PlanChanges, hash: string | undefined, verb: string) {
  if (run.status !== "confirming") throw refused(run, verb, `it is ${run.status}, not confirming`);
  const item = Object.values(run.inbox).find(({ kind }) => kind === "plan");
  if (hash !== undefined && item?.hash !== hash) {
    throw refused(run, verb, "the plan has changed since you saw it", "Review the new plan.");
  }
  const changed = changedPlan(run, changes);
  const { errors, warnings } = checkPlan(changed.tasks, run.template);
  if (errors.length > 0) throw invalidPlan(run, errors);
  return { ...changed, warnings };
}

export function askToConfirm(run: Run, { tasks, errors }: Plan, history: History | undefined, at: number): RunEvent {
  const { maxWorkers, parallelExecution } = run.template.config;
  const sound = errors.length === 0;
  const estimate = sound ? estimatePlan(tasks, parallelExecution ? maxWorkers : 1, history) : null;
  const question = !sound
    ? sentence("The plan is invalid: {errors}", { errors: errors.join("; ") })
    : tasks.length === 1
      ? sentence("Carry out this plan of 1 task?")
      : sentence("Carry out this plan of {count} tasks?", { count: tasks.length });
  return addItem(
    run,
    { kind: "plan", question, evidence: { tasks, errors, estimate, budget: run.budget }, risk: "medium" },
    at,
  );
}

/** Sets `autoSpawn`: the plan is confirmed now, or as soon as there is a valid one. */
export function confirmAhead(run: Run): RunEvent[] {
  if (isRunOver(run.status) || run.template.config.autoSpawn) return [];
  return [{ type: "orchestrator:confirmedAhead", data: { id: run.id } }];
}

/** Throws `invalid_plan` if `changes` do not fit the plan. Unlike `checkPlan`, does not check the plan as a whole. */
export function changedPlan(run: Run, changes: PlanChanges): { tasks: Task[]; skipped: Run["skipped"] } {
  const { tasks: byId = {}, added = [], removed = [] } = changes;
  const skipped: Run["skipped"] = {};
  // The tasks of the plan are valid. The same list lets the run keep what it has computed from them.
  if (added.length + removed.length + Object.keys(byId).length === 0) return { tasks: run.tasks, skipped };
  const known = new Set([...run.tasks, ...added].map(({ id }) => id));
  const unknown = [...Object.keys(byId), ...removed].filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw invalidPlan(
      run,
      unknown.map((id) => `the plan has no task ${id}`),
    );
  const forbidden = forbiddenChanges(run, changes);
  if (forbidden.length > 0) throw invalidPlan(run, forbidden);
  const removedIds = new Set(removed);
  const tasks = [...run.tasks, ...added.map((task) => ({ ...defaultRole(run), ...task }))]
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

/** In a team that its lead plans, every task has a role. */
function defaultRole({ template: { roles, pipeline } }: Run): Pick<Task, "role"> {
  if (!roles || pipeline || roles[leadOf(roles)]?.protocol === "delegation") return {};
  return { role: workingRoles(roles)[0]! };
}

function withChanges(task: Task, edits: Omit<TaskChange, "skip" | "satisfied">): object {
  const changed = { ...task, ...edits, id: task.id };
  // The `model` of the plan belongs to the agent of the plan.
  const model = edits.agent === undefined ? changed.model : edits.model;
  return Object.fromEntries(Object.entries({ ...changed, model }).filter(([, value]) => value !== null));
}

function invalidPlan(run: Run, errors: string[]): TuttiError {
  const message = `The plan of run "${run.id}" is invalid: ${errors.join("; ")}. Change the plan or request another one.`;
  return new TuttiError("invalid_plan", message, { details: errors });
}

export function requestChanges(run: Run, text: string): RunEvent[] {
  if (run.status !== "confirming") throw refused(run, "replanned", `it is ${run.status}, not confirming`);
  if (run.template.pipeline) throw invalidPlan(run, ["the template fixes it"]);
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

/** `why` continues the sentence after a colon, without a full stop. */
export function refused(run: Run, verb: string, why: string, advice?: string): TuttiError {
  const remedy = advice ?? `Show the run with "tutti status ${run.id}".`;
  return new TuttiError("wrong_state", `Run "${run.id}" cannot be ${verb}: ${why}. ${remedy}`, {
    details: { status: run.status },
  });
}
