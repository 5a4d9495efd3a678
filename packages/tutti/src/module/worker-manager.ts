// `WorkerManager` of document 004 is a view of the workers in the engine under the documented names. The engine starts
// tasks that are ready and keeps all state in the log.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { SharedEngine, type Controller } from "./shared-engine.ts";
import { checkOptions, sharedOptionsOf } from "./check-options.ts";
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
import type { ResponseParser } from "../protocol/response/response-parser.ts";
import { taskStanding } from "../run/census.ts";
import { workerOf, workersOf } from "../run/lookup.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";
import { workerSessionId } from "../schema/ids.ts";
import { WorkerOptions } from "../schema/options.ts";
import type { WorkerStatus } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { Template } from "../schema/template.ts";
import { aggregateStats, type AggregatedStats } from "../engine/sessions/worker-stats.ts";

type Variables = Record<string, unknown>;

export interface UpdateResult {
  sessionId: string;
  /** True if the worker changed since the last `pollWorker`. */
  hasUpdate: boolean;
  state?: WorkerState;
  error?: string;
}

export class WorkerManager extends EventEmitter<ModuleEvents> {
  readonly responseParser: ResponseParser;
  readonly config: z.output<typeof WorkerOptions>;
  readonly sharedEngine: SharedEngine;
  /** The state of each worker at its last `pollWorker`, only used to compute `hasUpdate`. */
  readonly #polledStates = new Map<string, string>();
  /** By run: tasks for a plan that is not confirmed yet. `processQueue` confirms the plan with them. */
  readonly #queued = new Map<string, QueueItem[]>();

  /** `cdpController` is that of the `OrchestratorManager`, or the same `SharedEngine`. */
  constructor(
    cdpController: Controller,
    responseParser: ResponseParser,
    config: Partial<z.input<typeof WorkerOptions>> = {},
  ) {
    super();
    this.responseParser = responseParser;
    this.config = checkOptions(WorkerOptions, config);
    this.sharedEngine = SharedEngine.of(cdpController);
    // Without options of its own, a manager may join an engine that `isOpen` already.
    if (!this.sharedEngine.isOpen || Object.keys(config).length > 0)
      this.sharedEngine.configure({ maxWorkers: this.config.maxWorkers, ...sharedOptionsOf(config) });
    forwardEvents(this.sharedEngine, this, isOfWorkers);
  }

  /** By `sessionId`: the newest attempt at each task of every run. */
  get workers(): Map<string, WorkerState> {
    return new Map(this.#all().map((state) => [state.sessionId, state]));
  }

  /** By `taskId`. If several runs have a task of this name, the newest run wins. */
  get taskToSession(): Map<string, string> {
    return new Map(this.#all().map(({ taskId, sessionId }) => [taskId, sessionId]));
  }

  get orchestratorWorkers(): Map<string, Set<string>> {
    const runs = this.sharedEngine.engine.list();
    return new Map(runs.map((run) => [run.id, new Set(workersOf(run).map(({ sessionId }) => sessionId))]));
  }

  get activeCount(): number {
    return this.sharedEngine.openRuns().reduce((sum, run) => sum + activeCount(run), 0);
  }

  /** Tasks of confirmed plans that have not started, and those of `queueTasks`. */
  get taskQueue(): QueueItem[] {
    return this.sharedEngine.openRuns().flatMap((run) => {
      if (run.status === "confirming") return this.#queued.get(run.id) ?? [];
      if (run.status !== "spawning" && run.status !== "running") return [];
      const { id: orchestratorId, template, customVariables: variables } = run;
      const waiting = run.tasks.filter(({ id }) => taskStanding(run, id) === "neverStarted");
      return waiting.map((task) => ({ orchestratorId, task, template, variables }));
    });
  }

  /** Resolves when the task has started, or immediately with `pending` if it waits. The plan must be confirmed. */
  async spawnWorker(
    orchestratorId: string,
    task: Task,
    template?: Template,
    variables?: Variables,
  ): Promise<WorkerState> {
    const run = this.sharedEngine.run(orchestratorId);
    if (run.status === "confirming") throw wrongState(run, "Call spawnBatch to confirm its plan with the given tasks.");
    if (run.status !== "spawning" && run.status !== "running")
      throw wrongState(run, "No task can be started in this status. Start or resume the run.");
    checkQueued(run, task, template, variables);
    const standing = taskStanding(run, task.id);
    if (standing !== "neverStarted" && standing !== "active")
      throw wrongState(run, `Task "${task.id}" is ${standing}. Call retryWorker to run it again.`);
    await this.sharedEngine.engine.activate(orchestratorId);
    return untilSpawned(this.sharedEngine, orchestratorId, task.id);
  }

  /** Confirms a plan with exactly `tasks` if it is not confirmed yet; its other tasks are skipped. */
  async spawnBatch(
    orchestratorId: string,
    tasks: Task[],
    template?: Template,
    variables?: Variables,
  ): Promise<WorkerState[]> {
    const run = this.sharedEngine.run(orchestratorId);
    if (run.status === "confirming") {
      checkContext(run, template, variables);
      await confirmTasks(this.sharedEngine, run, tasks);
    }
    return Promise.all(tasks.map((task) => this.#spawnUnlessStarted(orchestratorId, task, template, variables)));
  }

  async cancelWorker(sessionId: string): Promise<void> {
    await this.#order(sessionId, "cancelWorker");
  }

  async pauseWorker(sessionId: string): Promise<void> {
    await this.#order(sessionId, "pauseWorker");
  }

  async resumeWorker(sessionId: string): Promise<void> {
    await this.#order(sessionId, "resumeWorker");
  }

  async #order(sessionId: string, name: "cancelWorker" | "pauseWorker" | "resumeWorker"): Promise<void> {
    const { id } = this.sharedEngine.worker(sessionId).run;
    await this.sharedEngine.order(id, (engine) => engine[name](id, sessionId));
  }

  /** Resets the worker and queues its task; the engine starts it. Await `spawnWorker` for the start. */
  async retryWorker(sessionId: string): Promise<WorkerState> {
    const { run, worker } = this.sharedEngine.worker(sessionId);
    const updated = await this.sharedEngine.order(run.id, (engine) =>
      engine.order(run.id, "retry", { taskId: worker.taskId }),
    );
    return workerState(workerOf(updated, worker.taskId)!);
  }

  /** `activateAll` resumes idle runs of the log; the workers of a controller are polled from now on. */
  startMonitoring(): void {
    this.sharedEngine.watch("worker", true);
    this.sharedEngine.activateAll().catch((error: unknown) => console.warn("A run could not be resumed:", error));
  }

  /** Undoes the polling of `startMonitoring`. Workers without a controller still report by themselves. */
  stopMonitoring(): void {
    this.sharedEngine.watch("worker", false);
  }

  async pollWorker(sessionId: string): Promise<UpdateResult> {
    try {
      await this.sharedEngine.polled?.poll(sessionId);
      const state = workerState(this.sharedEngine.worker(sessionId).worker);
      const snapshot = JSON.stringify(state);
      const hasUpdate = this.#polledStates.get(sessionId) !== snapshot;
      this.#polledStates.set(sessionId, snapshot);
      return { sessionId, hasUpdate, state };
    } catch (error) {
      return { sessionId, hasUpdate: false, error: asTuttiError(error).message };
    }
  }

  async pollAllWorkers(): Promise<UpdateResult[]> {
    const active = this.#all().filter(({ status }) => isActive(status));
    return Promise.all(active.map(({ sessionId }) => this.pollWorker(sessionId)));
  }

  getWorker(sessionId: string): WorkerState | null {
    const found = this.sharedEngine.find(sessionId);
    return found && workerState(found.worker);
  }

  /** Throws without `orchestratorId` if several runs have a task of this name. */
  getWorkerByTaskId(taskId: string, orchestratorId?: string): WorkerState | null {
    const runs =
      orchestratorId === undefined ? this.sharedEngine.engine.list() : [this.sharedEngine.run(orchestratorId)];
    const found = runs.flatMap((run) => workerOf(run, taskId) ?? []);
    if (found.length > 1) {
      const ids = found.map((worker) => worker.orchestratorId);
      throw new TuttiError(
        "invalid_input",
        `Several runs have a task "${taskId}". Pass the id of one of them: ${ids.join(", ")}.`,
      );
    }
    return found[0] ? workerState(found[0]) : null;
  }

  getAllWorkers(orchestratorId: string): WorkerState[] {
    return workersOf(this.sharedEngine.run(orchestratorId)).map(workerState);
  }

  getActiveWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => isActive(status));
  }

  getCompletedWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => status === "completed");
  }

  getFailedWorkers(orchestratorId: string): WorkerState[] {
    return this.getAllWorkers(orchestratorId).filter(({ status }) => status === "failed" || status === "timeout");
  }

  /**
   * Before a plan is confirmed, queues the tasks with which `processQueue` confirms it. A confirmed plan contains its
   * tasks already; any other task is rejected.
   */
  queueTasks(tasks: readonly QueueItem[]): void {
    const isOpen = ({ orchestratorId }: QueueItem) => this.sharedEngine.run(orchestratorId).status === "confirming";
    for (const item of tasks) {
      const run = this.sharedEngine.run(item.orchestratorId);
      if (isOpen(item)) checkContext(run, item.template, item.variables);
      else checkQueued(run, item.task, item.template, item.variables);
    }
    for (const item of tasks.filter(isOpen)) {
      const others = this.#queued.get(item.orchestratorId)?.filter(({ task }) => task.id !== item.task.id) ?? [];
      this.#queued.set(item.orchestratorId, [...others, item]);
    }
  }

  /** Resolves with the number of tasks that started, when all `startable` tasks have. */
  async processQueue(orchestratorId: string, template?: Template, variables?: Variables): Promise<number> {
    const run = this.sharedEngine.run(orchestratorId);
    if (run.status === "confirming") {
      const queued = this.#queued.get(orchestratorId);
      if (!queued) throw wrongState(run, "Queue tasks with queueTasks first.");
      const tasks = queued.map(({ task }) => task);
      const spawned = await this.spawnBatch(orchestratorId, tasks, template, variables);
      this.#queued.delete(orchestratorId);
      return spawned.filter(({ status }) => status !== "pending").length;
    }
    checkContext(run, template, variables);
    await this.sharedEngine.engine.activate(orchestratorId);
    const now = startable(this.sharedEngine, this.sharedEngine.run(orchestratorId));
    const started = await Promise.all(now.map((taskId) => untilSpawned(this.sharedEngine, orchestratorId, taskId)));
    return started.filter(({ status }) => status !== "pending").length;
  }

  collectOutputs(orchestratorId: string): WorkerOutput[] {
    return workersOf(this.sharedEngine.run(orchestratorId)).map(workerOutput);
  }

  getAggregatedStats(orchestratorId: string): AggregatedStats {
    return aggregateStats(this.sharedEngine.run(orchestratorId), Date.now());
  }

  /** Archived sessions leave the lists and stay readable. A running session is reported in `errors`. */
  async archiveWorkers(
    orchestratorId: string,
  ): Promise<{ archived: number; errors: { sessionId: string; error: string }[] }> {
    return this.sharedEngine.engine.archiveWorkers(orchestratorId);
  }

  /**
   * Cancels the run if it is not over. Unlike `archiveWorkers`, deletes the transcripts; the results of the tasks stay
   * in the log.
   */
  async deleteWorkers(orchestratorId: string): Promise<void> {
    const options = { archiveWorkers: false, deleteWorkers: true, removeState: false };
    await this.sharedEngine.engine.cleanup(orchestratorId, options);
  }

  _generateSessionId(orchestratorId: string, taskId: string): string {
    const { id, template } = this.sharedEngine.run(orchestratorId);
    return workerSessionId(id, taskId, 1, template.config.sessionPrefix);
  }

  #all(): WorkerState[] {
    return this.sharedEngine.engine.list().flatMap((run) => workersOf(run).map(workerState));
  }

  /** A task of the batch may have finished while another one was awaited, which `spawnWorker` would refuse. */
  async #spawnUnlessStarted(id: string, task: Task, template?: Template, variables?: Variables): Promise<WorkerState> {
    const worker = workerOf(this.sharedEngine.run(id), task.id);
    return worker && worker.status !== "pending"
      ? workerState(worker)
      : this.spawnWorker(id, task, template, variables);
  }
}

const isActive = (status: WorkerStatus): boolean => status === "running" || status === "spawning";
