// What spawning means where the engine starts every task of a confirmed plan by itself: a caller may confirm a plan by
// naming its tasks, and wait until a task has begun. A task that the log cannot carry out is refused.
import type { Backstage } from "./backstage.ts";
import { queuedWorker, workerState, type WorkerState } from "./worker-state.ts";
import type { PlanChanges } from "../run/command.ts";
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

/** Carries out a plan that waits to be confirmed as exactly these tasks: others are left out, new ones are added. */
export async function confirmTasks(stage: Backstage, run: Run, tasks: readonly Task[]): Promise<void> {
  const named = new Map(tasks.map((task) => [task.id, task]));
  const changes: PlanChanges = {
    added: tasks.filter(({ id }) => !taskOf(run, id)),
    tasks: Object.fromEntries(run.tasks.map(({ id }) => [id, changeOf(named.get(id))])),
  };
  await stage.order(run.id, (engine) => engine.confirm(run.id, changes));
}

function changeOf(task: Task | undefined) {
  if (!task) return { skip: true };
  const { id: _id, ...edits } = task;
  return edits;
}

/** Refuses what would have to be carried out otherwise than the log says. */
export function checkQueued(run: Run, task: Task, template?: Template, variables: Record<string, unknown> = {}): void {
  checkContext(run, template, variables);
  const planned = taskOf(run, task.id);
  if (!planned) {
    const message = `task ${task.id} is not in the plan of ${run.id}, which can be changed only while it is confirmed`;
    throw new TuttiError("wrong_state", message, { details: { status: run.status } });
  }
  if (Object.hasOwn(run.skipped, task.id)) throw wrongState(run, `task ${task.id} was left out of the plan`);
  if (planned.title !== task.title || planned.description !== task.description)
    throw wrongState(run, `task ${task.id} is another one in the plan that was confirmed`);
}

/** A run works with its own template and variables, from its beginning. */
export function checkContext(run: Run, template?: Template, variables: Record<string, unknown> = {}): void {
  if (template && template.id !== run.templateId) throw wrongState(run, `its template is ${run.templateId}`);
  for (const [name, value] of Object.entries(variables)) {
    const own = run.customVariables[name] ?? run.template.variables[name];
    if (!builtInVariable(name) && own !== value)
      throw wrongState(run, `its variable ${name} is ${JSON.stringify(own) ?? "not set"}`);
  }
}

/** Resolves when the task has begun; or at once, with `pending`, if it has to wait for others. */
export async function untilSpawned(stage: Backstage, runId: string, taskId: string): Promise<WorkerState> {
  const run = await stage.engine.until(runId, (run) => {
    const worker = workerOf(run, taskId);
    const hasBegun = worker !== undefined && worker.status !== "pending";
    return hasBegun || isRunOver(run.status) || !startable(stage, run).includes(taskId);
  });
  const worker = workerOf(run, taskId);
  return worker ? workerState(worker) : queuedWorker(run, taskOf(run, taskId)!);
}

/** The tasks that the engine will start now, or after the wait that the template wants between two starts. */
export function startable(stage: Backstage, run: Run): string[] {
  const { template } = run;
  const unpaced = { ...run, template: { ...template, config: { ...template.config, spawnDelay: 0 } } };
  const active = stage.engine.list().reduce((sum, each) => sum + activeCount(each), 0);
  return schedule(unpaced, { freeSlots: stage.maxWorkers - active }, Number.MAX_SAFE_INTEGER).spawn;
}

export const activeCount = (run: Run): number =>
  workersOf(run).filter(({ status }) => status !== "pending" && !isWorkerOver(status)).length;

export const wrongState = (run: Run, why: string): TuttiError =>
  new TuttiError("wrong_state", `run ${run.id} (${run.status}): ${why}`, { details: { status: run.status } });
