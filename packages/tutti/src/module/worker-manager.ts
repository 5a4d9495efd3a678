// The WorkerManager of document 004: a view of the engine's workers under the documented names. The engine starts what is
// ready, polls nothing that speaks by itself, and keeps all state in the log; this class asks it and shows what it says.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { Backstage, type Controller } from "./backstage.ts";
import { checkOptions, wishesOf } from "./check-options.ts";
import { forwardEvents, isOfWorkers, type ModuleEvents } from "./module-events.ts";
import {
  activeCount,
  checkContext,
  checkQueued,
  confirmTasks,
  startable,
  untilSpawned,
  wrongState,
  type QueueItem,
} from "./spawn-tasks.ts";
import { workerOutput, workerState, type WorkerOutput, type WorkerState } from "./worker-state.ts";
import type { ResponseParser } from "../protocol/response-parser.ts";
import { taskStanding } from "../run/census.ts";
import { workerOf, workersOf } from "../run/lookup.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { workerSessionId } from "../schema/ids.ts";
import { WorkerOptions } from "../schema/options.ts";
import type { WorkerStatus } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { Template } from "../schema/template.ts";
import { aggregateStats, type AggregatedStats } from "../engine/worker-stats.ts";

type Variables = Record<string, unknown>;

export interface UpdateResult {
  sessionId: string;
  /** Whether the worker is another than when it was last polled. */
  hasUpdate: boolean;
  state?: WorkerState;
  error?: string;
}

export class WorkerManager extends EventEmitter<ModuleEvents> {
  readonly responseParser: ResponseParser;
  readonly config: z.output<typeof WorkerOptions>;
  readonly backstage: Backstage;
  /** What each worker looked like when it was last polled: a reader's place, nothing that anybody decides on. */
  readonly #seen = new Map<string, string>();
  /** By run: what is to be carried out of a plan that waits to be confirmed. `processQueue` confirms the plan with it. */
  readonly #queued = new Map<string, QueueItem[]>();

  /** The controller is that of the OrchestratorManager, or a `Backstage` that both are given. */
  constructor(
    cdpController: Controller,
    responseParser: ResponseParser,
    config: Partial<z.input<typeof WorkerOptions>> = {},
  ) {
    super();
    this.responseParser = responseParser;
    this.config = checkOptions(WorkerOptions, config);
    this.backstage = Backstage.of(cdpController);
    // Who comes late and wants nothing in particular takes the engine as it is.
    if (!this.backstage.isOpen || Object.keys(config).length > 0)
      this.backstage.wish({ maxWorkers: this.config.maxWorkers, ...wishesOf(config) });
    forwardEvents(this.backstage, this, isOfWorkers);
  }

  /** By session: the newest attempt at each task of every run. */
  get workers(): Map<string, WorkerState> {
    return new Map(this.#all().map((state) => [state.sessionId, state]));
  }

  /** By task. Runs may have tasks of one name; the newest run's is shown. */
  get taskToSession(): Map<string, string> {
    return new Map(this.#all().map(({ taskId, sessionId }) => [taskId, sessionId]));
  }

  get orchestratorWorkers(): Map<string, Set<string>> {
    const runs = this.backstage.engine.list();
    return new Map(runs.map((run) => [run.id, new Set(workersOf(run).map(({ sessionId }) => sessionId))]));
  }

  get activeCount(): number {
    return this.backstage.engine.list().reduce((sum, run) => sum + activeCount(run), 0);
  }

  /** Tasks of confirmed plans that have not begun, and those that were queued for a plan before it is confirmed. */
  get taskQueue(): QueueItem[] {
    return this.backstage.engine.list().flatMap((run) => {
      if (run.status === "confirming") return this.#queued.get(run.id) ?? [];
      if (run.status !== "spawning" && run.status !== "running") return [];
      const { id: orchestratorId, template, customVariables: variables } = run;
      const waiting = run.tasks.filter(({ id }) => taskStanding(run, id) === "neverStarted");
      return waiting.map((task) => ({ orchestratorId, task, template, variables }));
    });
  }

  /** Resolves when the task has begun, or at once with `pending` if it has to wait. Only tasks of a confirmed plan can. */
  async spawnWorker(
    orchestratorId: string,
    task: Task,
    template?: Template,
    variables?: Variables,
  ): Promise<WorkerState> {
    const run = this.backstage.run(orchestratorId);
    if (run.status === "confirming")
      throw wrongState(run, "its plan waits to be confirmed; spawnBatch confirms it with the tasks it is given");
    if (run.status !== "spawning" && run.status !== "running") throw wrongState(run, "no task can be started now");
    checkQueued(run, task, template, variables);
    const standing = taskStanding(run, task.id);
    if (standing !== "neverStarted" && standing !== "active")
      throw wrongState(run, `task ${task.id} is ${standing}; it can only be retried`);
    await this.backstage.engine.takeUp(orchestratorId);
    return untilSpawned(this.backstage, orchestratorId, task.id);
  }

  /** A plan that waits to be confirmed is carried out as exactly these tasks; the others of it are left out. */
  async spawnBatch(
    orchestratorId: string,
    tasks: Task[],
    template?: Template,
    variables?: Variables,
  ): Promise<WorkerState[]> {
    const run = this.backstage.run(orchestratorId);
    if (run.status === "confirming") {
      checkContext(run, template, variables);
      await confirmTasks(this.backstage, run, tasks);
    }
    return Promise.all(tasks.map((task) => this.#spawned(orchestratorId, task, template, variables)));
  }

  async cancelWorker(sessionId: string): Promise<void> {
    const { run } = this.backstage.worker(sessionId);
    await this.backstage.order(run.id, (engine) => engine.cancelWorker(run.id, sessionId));
  }

  async pauseWorker(sessionId: string): Promise<void> {
    const { run } = this.backstage.worker(sessionId);
    await this.backstage.order(run.id, (engine) => engine.pauseWorker(run.id, sessionId));
  }

  async resumeWorker(sessionId: string): Promise<void> {
    const { run } = this.backstage.worker(sessionId);
    await this.backstage.order(run.id, (engine) => engine.resumeWorker(run.id, sessionId));
  }

  /** Resets the worker and puts its task back into the queue, from which the engine starts it; `spawnWorker` can be awaited. */
  async retryWorker(sessionId: string): Promise<WorkerState> {
    const { run, worker } = this.backstage.worker(sessionId);
    const after = await this.backstage.order(run.id, (engine) => engine.retry(run.id, worker.taskId));
    return workerState(workerOf(after, worker.taskId)!);
  }

  /** Workers of a controller are polled from now on. */
  startMonitoring(): void {
    this.backstage.watch("worker", true);
    this.backstage.takeUpAll().catch((error: unknown) => console.warn("A run could not be taken up:", error));
  }

  /** Workers of a controller are looked at no more; those that speak by themselves are heard all the same. */
  stopMonitoring(): void {
    this.backstage.watch("worker", false);
  }

  async pollWorker(sessionId: string): Promise<UpdateResult> {
    try {
      await this.backstage.polled?.poll(sessionId);
      const state = workerState(this.backstage.worker(sessionId).worker);
      const look = JSON.stringify(state);
      const hasUpdate = this.#seen.get(sessionId) !== look;
      this.#seen.set(sessionId, look);
      return { sessionId, hasUpdate, state };
    } catch (error) {
      return { sessionId, hasUpdate: false, error: asTuttiError(error).message };
    }
  }

  /** Those that are at work. */
  async pollAllWorkers(): Promise<UpdateResult[]> {
    const active = this.#all().filter(({ status }) => isActive(status));
    return Promise.all(active.map(({ sessionId }) => this.pollWorker(sessionId)));
  }

  getWorker(sessionId: string): WorkerState | null {
    const found = this.backstage.find(sessionId);
    return found && workerState(found.worker);
  }

  /** Where several runs have a task of this name, it must be said which one is meant. */
  getWorkerByTaskId(taskId: string, orchestratorId?: string): WorkerState | null {
    const runs = orchestratorId === undefined ? this.backstage.engine.list() : [this.backstage.run(orchestratorId)];
    const found = runs.flatMap((run) => workerOf(run, taskId) ?? []);
    if (found.length > 1) {
      const ids = found.map((worker) => worker.orchestratorId);
      throw new TuttiError("invalid_input", `several runs have a task ${taskId}; say which: ${ids.join(", ")}`);
    }
    return found[0] ? workerState(found[0]) : null;
  }

  getAllWorkers(orchestratorId: string): WorkerState[] {
    return workersOf(this.backstage.run(orchestratorId)).map(workerState);
  }

  getActiveWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => isActive(status));
  }

  getCompletedWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => status === "completed");
  }

  /** Those that timed out too. */
  getFailedWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => status === "failed" || status === "timeout");
  }

  /**
   * While a plan waits to be confirmed, these tasks are what `processQueue` will carry out of it. A confirmed plan is the
   * queue itself and holds its tasks already; any other task is refused.
   */
  queueTasks(tasks: readonly QueueItem[]): void {
    const isOpen = ({ orchestratorId }: QueueItem) => this.backstage.run(orchestratorId).status === "confirming";
    for (const item of tasks) {
      const run = this.backstage.run(item.orchestratorId);
      if (isOpen(item)) checkContext(run, item.template, item.variables);
      else checkQueued(run, item.task, item.template, item.variables);
    }
    for (const item of tasks.filter(isOpen)) {
      const others = this.#queued.get(item.orchestratorId)?.filter(({ task }) => task.id !== item.task.id) ?? [];
      this.#queued.set(item.orchestratorId, [...others, item]);
    }
  }

  /** Resolves when everything that there is room for has begun, with how many that were. */
  async processQueue(orchestratorId: string, template?: Template, variables?: Variables): Promise<number> {
    const run = this.backstage.run(orchestratorId);
    if (run.status === "confirming") {
      const queued = this.#queued.get(orchestratorId);
      if (!queued) throw wrongState(run, "its plan waits to be confirmed, and no task of it is queued");
      const tasks = queued.map(({ task }) => task);
      const spawned = await this.spawnBatch(orchestratorId, tasks, template, variables);
      this.#queued.delete(orchestratorId);
      return spawned.filter(({ status }) => status !== "pending").length;
    }
    checkContext(run, template, variables);
    await this.backstage.engine.takeUp(orchestratorId);
    const now = startable(this.backstage, this.backstage.run(orchestratorId));
    const begun = await Promise.all(now.map((taskId) => untilSpawned(this.backstage, orchestratorId, taskId)));
    return begun.filter(({ status }) => status !== "pending").length;
  }

  collectOutputs(orchestratorId: string): WorkerOutput[] {
    return workersOf(this.backstage.run(orchestratorId)).map(workerOutput);
  }

  getAggregatedStats(orchestratorId: string): AggregatedStats {
    return aggregateStats(this.backstage.run(orchestratorId), Date.now());
  }

  /** Sessions that are over leave the lists and stay readable; one that is alive is an error of its own. */
  async archiveWorkers(
    orchestratorId: string,
  ): Promise<{ archived: number; errors: { sessionId: string; error: string }[] }> {
    return this.backstage.engine.archiveWorkers(orchestratorId);
  }

  /** A run that is not over is cancelled first. What its sessions said is removed; what became of the tasks stays in the log. */
  async deleteWorkers(orchestratorId: string): Promise<void> {
    const options = { archiveWorkers: false, deleteWorkers: true, removeState: false };
    await this.backstage.engine.cleanup(orchestratorId, options);
  }

  _generateSessionId(orchestratorId: string, taskId: string): string {
    const { id, template } = this.backstage.run(orchestratorId);
    return workerSessionId(id, taskId, 1, template.config.sessionPrefix);
  }

  #all(): WorkerState[] {
    return this.backstage.engine.list().flatMap((run) => workersOf(run).map(workerState));
  }

  /** One that has been carried out already, while others of its batch were waited for, is no less spawned. */
  async #spawned(id: string, task: Task, template?: Template, variables?: Variables): Promise<WorkerState> {
    const worker = workerOf(this.backstage.run(id), task.id);
    return worker && worker.status !== "pending"
      ? workerState(worker)
      : this.spawnWorker(id, task, template, variables);
  }
}

const isActive = (status: WorkerStatus): boolean => status === "running" || status === "spawning";
