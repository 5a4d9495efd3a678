// The spawn functions of document 004. The engine starts every task of a confirmed plan by itself, so a caller can only
// confirm a plan by naming its tasks (`confirmTasks`) and wait until a task starts (`untilSpawned`). Tasks that differ
// from the log are rejected.
import type { SharedEngine } from "./shared-engine.ts";
import { queuedWorker, workerState, type WorkerState } from "./worker-state.ts";
import { taskOf, workerOf, workersOf } from "../run/lookup.ts";
import { schedule } from "../run/schedule.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { Template } from "../schema/template.ts";
import { builtInVariable } from "../template/variables.ts";

export interface QueueItem {
  orchestratorId: string;
  task: Task;
  template: Template;
  variables: Record<string, unknown>;
}

/** Confirms a plan with exactly `tasks`: skips the others and adds new ones. */
export async function confirmTasks(shared: SharedEngine, run: Run, tasks: readonly Task[]): Promise<void> {
  const named = new Map(tasks.map((task) => [task.id, task]));
  const changes = {
    added: tasks.filter(({ id }) => !taskOf(run, id)),
    modifications: Object.fromEntries(run.tasks.map(({ id }) => [id, changeOf(named.get(id))])),
  };
  await shared.order(run.id, (engine) => engine.order(run.id, "confirm", changes));
}

function changeOf(task: Task | undefined) {
  if (!task) return { skip: true };
  const { id: _id, ...edits } = task;
  return edits;
}

/** Throws if `task` differs from the confirmed plan. */
export function checkQueued(run: Run, task: Task, template?: Template, variables: Record<string, unknown> = {}): void {
  checkContext(run, template, variables);
  const planned = taskOf(run, task.id);
  if (!planned) {
    const message = `Task "${task.id}" is not in the plan of run "${run.id}". Change the plan when you confirm it.`;
    throw new TuttiError("wrong_state", message, { details: { status: run.status } });
  }
  if (Object.hasOwn(run.skipped, task.id)) throw wrongState(run, `Task "${task.id}" was skipped. Pass another one.`);
  if (planned.title !== task.title || planned.description !== task.description)
    throw wrongState(run, `Task "${task.id}" differs from the confirmed plan. Pass it unchanged.`);
}

/** Throws if `template` or `variables` differ from those that the run was created with. */
export function checkContext(run: Run, template?: Template, variables: Record<string, unknown> = {}): void {
  if (template && template.id !== run.templateId)
    throw wrongState(run, `Its template is "${run.templateId}" and cannot be changed. Leave it out.`);
  for (const [name, value] of Object.entries(variables)) {
    const current = run.customVariables[name] ?? run.template.variables[name];
    if (!builtInVariable(name) && current !== value)
      throw wrongState(
        run,
        `Its variable ${name} is ${JSON.stringify(current) ?? "not set"} and cannot be changed. Leave it out.`,
      );
  }
}

/** Resolves when the task has started, or immediately with `pending` if it is not `startable`. */
export async function untilSpawned(shared: SharedEngine, runId: string, taskId: string): Promise<WorkerState> {
  const run = await shared.engine.until(runId, (run) => {
    const worker = workerOf(run, taskId);
    const hasBegun = worker !== undefined && worker.status !== "pending";
    return hasBegun || isRunOver(run.status) || !startable(shared, run).includes(taskId);
  });
  const worker = workerOf(run, taskId);
  return worker ? workerState(worker) : queuedWorker(run, taskOf(run, taskId)!);
}

/** Unlike `schedule`, ignores the delay between two starts. */
export function startable(shared: SharedEngine, run: Run): string[] {
  const { template } = run;
  const unpaced = { ...run, template: { ...template, config: { ...template.config, spawnDelay: 0 } } };
  const active = shared.openRuns().reduce((sum, each) => sum + activeCount(each), 0);
  return schedule(unpaced, { freeSlots: shared.maxWorkers - active }, Number.MAX_SAFE_INTEGER).spawn;
}

export const activeCount = (run: Run): number =>
  workersOf(run).filter(({ status }) => status !== "pending" && !isWorkerOver(status)).length;

export const wrongState = (run: Run, reason: string): TuttiError =>
  new TuttiError("wrong_state", `Run "${run.id}" is ${run.status}. ${reason}`, { details: { status: run.status } });
