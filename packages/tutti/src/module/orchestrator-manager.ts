// The OrchestratorManager of document 004: a view of the engine under the documented names. It knows nothing that the log
// does not have. What the state of a run does not allow is refused with a TuttiError and changes nothing.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { Backstage, type Controller } from "./backstage.ts";
import { checkOptions } from "./check-options.ts";
import { listSessions, type ListedSession, type ListOptions } from "./list-sessions.ts";
import { forwardEvents, isOfOrchestrators, type ModuleEvents } from "./module-events.ts";
import {
  countsOf,
  orchestratorState,
  orchestratorSummary,
  type OrchestratorState,
  type OrchestratorSummary,
} from "./orchestrator-state.ts";
import { processPhase, type PhaseResult } from "./process-phase.ts";
import type { TemplateManager } from "./template-manager.ts";
import type { CleanupOptions } from "../engine/cleanup.ts";
import type { Engine } from "../engine/engine.ts";
import type { NewRun } from "../engine/new-run.ts";
import { PROMPT_OF } from "../engine/prompt.ts";
import type { ResponseParser } from "../protocol/response-parser.ts";
import type { AggregationAnswer, AnalysisAnswer, TaskListAnswer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import { OrchestratorOptions } from "../schema/options.ts";
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { Template } from "../schema/template.ts";
import { substituteVariables } from "../template/render.ts";
import { promptVariables } from "../template/variables.ts";

export interface WorkerTask {
  orchestratorId: string;
  taskId: string;
  task: Task;
  dependencies: string[];
  priority: number;
}

export class OrchestratorManager extends EventEmitter<ModuleEvents> {
  readonly templateManager: TemplateManager;
  readonly responseParser: ResponseParser;
  readonly options: z.output<typeof OrchestratorOptions>;
  readonly backstage: Backstage;

  /** Managers that are given the same controller, or one `Backstage`, share one engine. */
  constructor(
    templateManager: TemplateManager,
    responseParser: ResponseParser,
    cdpController: Controller,
    options: z.input<typeof OrchestratorOptions> = {},
  ) {
    super();
    this.templateManager = templateManager;
    this.responseParser = responseParser;
    this.options = checkOptions(OrchestratorOptions, options);
    this.backstage = Backstage.of(cdpController);
    const { persistenceEnabled, persistencePath, pollInterval } = this.options;
    const folder = persistencePath === undefined ? {} : { dataDir: persistencePath };
    this.backstage.wish({
      templates: templateManager,
      mainPollMs: pollInterval,
      ...(persistenceEnabled ? folder : { dataDir: null }),
    });
    forwardEvents(this.backstage, this, isOfOrchestrators);
  }

  /** All of them by id, as they stand now. */
  get orchestrators(): Map<string, OrchestratorState> {
    return new Map(this.getAll().map((state) => [state.id, state]));
  }

  async create(request: NewRun): Promise<OrchestratorState> {
    for (const name of ["templateId", "cwd", "message"] as const) {
      if (typeof request?.[name] !== "string" || request[name] === "")
        throw new TuttiError("invalid_input", `a run needs ${name}`);
    }
    const { agent = this.backstage.agent, templateId, cwd, config } = request;
    const settings = { ...this.backstage.config(templateId, cwd), ...config };
    return orchestratorState(await this.backstage.engine.create({ ...request, agent, config: settings }));
  }

  async start(orchestratorId: string): Promise<OrchestratorState> {
    this.backstage.watch("main", true);
    return this.#order(orchestratorId, (engine) => engine.start(orchestratorId));
  }

  async pause(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, (engine) => engine.pause(orchestratorId));
  }

  async resume(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, (engine) => engine.resume(orchestratorId));
  }

  async cancel(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, (engine) => engine.cancel(orchestratorId));
  }

  /** Goes on with the runs that rest in the log; main sessions of a controller are polled from now on. */
  startMonitoring(): void {
    this.backstage.watch("main", true);
    this.backstage.takeUpAll().catch((error: unknown) => console.warn("A run could not be taken up:", error));
  }

  /** Main sessions of a controller are looked at no more. Sessions that speak by themselves are heard all the same. */
  stopMonitoring(): void {
    this.backstage.watch("main", false);
  }

  /** Looks at the main session now. */
  async pollOrchestrator(orchestratorId: string): Promise<void> {
    const { mainSessionId } = this.backstage.run(orchestratorId);
    if (mainSessionId !== null) await this.backstage.polled?.poll(mainSessionId);
  }

  async processPhase(orchestratorId: string, transcript: unknown): Promise<PhaseResult> {
    return processPhase(this.backstage, orchestratorId, transcript);
  }

  /** Starts the run or confirms its plan, if that is what leads to the phase. No answer of an agent can be leapt over. */
  async advanceToPhase(orchestratorId: string, phase: Phase): Promise<OrchestratorState> {
    const run = this.backstage.run(orchestratorId);
    if (run.currentPhase === phase) return orchestratorState(run);
    if (run.status === "created" && phase === firstPhase(run)) return this.start(orchestratorId);
    if (run.status === "confirming" && phase === "workerExecution")
      return this.#order(orchestratorId, (engine) => engine.confirm(orchestratorId));
    const where = run.currentPhase === null ? run.status : `${run.status} in ${run.currentPhase}`;
    throw new TuttiError("wrong_state", `run ${run.id} cannot be advanced to ${phase}: it is ${where}`);
  }

  /** The data counts as the answer that the run waits for now. */
  async handleAnalysisResponse(orchestratorId: string, data: AnalysisAnswer): Promise<void> {
    await this.#respond(orchestratorId, "analysis", data);
  }

  async handleTaskListResponse(orchestratorId: string, data: TaskListAnswer): Promise<void> {
    await this.#respond(orchestratorId, "taskPlanning", data);
  }

  async handleAggregationResponse(orchestratorId: string, data: AggregationAnswer): Promise<void> {
    await this.#respond(orchestratorId, "aggregation", data);
  }

  get(orchestratorId: string): OrchestratorState | null {
    const run = this.backstage.engine.get(orchestratorId);
    return run && orchestratorState(run);
  }

  getAll(): OrchestratorState[] {
    return this.backstage.engine.list().map(orchestratorState);
  }

  getStatus(orchestratorId: string): OrchestratorSummary | null {
    const run = this.backstage.engine.get(orchestratorId);
    return run && orchestratorSummary(run);
  }

  /** Adds to what the run's sessions have counted. */
  updateStats(orchestratorId: string, toolStats: Readonly<Record<string, unknown>>): void {
    this.backstage.run(orchestratorId);
    // Whether it became durable is seen in the state; an engine that cannot write says so to everybody.
    this.backstage.engine.countTools(orchestratorId, countsOf(toolStats)).catch(() => {});
  }

  /** How many runs the log holds; they rest until `startMonitoring` or an order. */
  async loadFromDisk(): Promise<number> {
    return this.backstage.engine.list().length;
  }

  /** Everything that was asked for until now is on disk when it resolves; nothing waits for it. */
  async saveToDisk(): Promise<void> {
    await this.backstage.engine.flush();
  }

  /** System text, blank line, user text. */
  generatePrompt(template: Template, phase: Phase, variables: Readonly<Record<string, unknown>>): string {
    const prompt = template.prompts[PROMPT_OF[phase]];
    if (!prompt) throw new TuttiError("invalid_input", `template ${template.id} has no prompt for ${phase}`);
    const { delimiterStart, delimiterEnd } = template.prompts.responseFormat;
    const known = { TEMPLATE_NAME: template.name, DELIMITER_START: delimiterStart, DELIMITER_END: delimiterEnd };
    const values = promptVariables(template.variables, variables, known);
    const parts = [prompt.system, prompt.user ?? ""].map((part) => substituteVariables(part, values).trim());
    return parts.filter((part) => part !== "").join("\n\n");
  }

  /** The tasks of the plan that are to be carried out. */
  buildWorkerTasks(orchestratorId: string): WorkerTask[] {
    const { tasks, skipped } = this.backstage.run(orchestratorId);
    return structuredClone(tasks.filter(({ id }) => !Object.hasOwn(skipped, id))).map((task) => {
      const { id: taskId, dependencies, priority } = task;
      return { orchestratorId, taskId, task, dependencies, priority };
    });
  }

  async cleanup(orchestratorId: string, options: CleanupOptions = {}): Promise<void> {
    await this.backstage.engine.cleanup(orchestratorId, options);
  }

  async listSessions(options: ListOptions = {}): Promise<ListedSession[]> {
    return listSessions(this.backstage, options);
  }

  /** Ends the engine, for all who share it. Runs that are not over go on with the next one. */
  async close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    await this.backstage.close(options);
  }

  async #order(id: string, give: (engine: Engine) => Promise<Run>): Promise<OrchestratorState> {
    return orchestratorState(await this.backstage.order(id, give));
  }

  async #respond(id: string, phase: Phase, data: unknown): Promise<void> {
    await this.backstage.order(id, (engine) => engine.respond(id, phase, data));
  }
}

const firstPhase = ({ template }: Run): Phase => (template.phases.analysis.enabled ? "analysis" : "taskPlanning");
