// `OrchestratorManager` of document 004 is a view of the engine under the documented names, without state of its own.
// An operation that the state of a run does not allow throws a `TuttiError` and changes nothing.
import { EventEmitter } from "node:events";
import type { z } from "zod";
import { SharedEngine, type Controller } from "./shared-engine.ts";
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
import type { CleanupOptions } from "../engine/runs/cleanup.ts";
import type { NewRun } from "../engine/new-run.ts";
import { PROMPT_OF } from "../engine/sessions/prompt.ts";
import type { ResponseParser } from "../protocol/response/response-parser.ts";
import type { AggregationAnswer, AnalysisAnswer, TaskListAnswer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import { OrchestratorOptions } from "../schema/options.ts";
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";
import type { Template } from "../schema/template.ts";
import type { Worker } from "../schema/worker.ts";
import { substituteVariables } from "../template/render.ts";
import { promptVariables } from "../template/variables.ts";

export interface WorkerTask extends Pick<Worker, "orchestratorId" | "taskId" | "task"> {
  dependencies: string[];
  priority: number;
}

export class OrchestratorManager extends EventEmitter<ModuleEvents> {
  readonly templateManager: TemplateManager;
  readonly responseParser: ResponseParser;
  readonly options: z.output<typeof OrchestratorOptions>;
  readonly sharedEngine: SharedEngine;

  /** Managers with the same `cdpController`, or the same `SharedEngine`, share one engine. */
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
    this.sharedEngine = SharedEngine.of(cdpController);
    const { persistenceEnabled, persistencePath, pollInterval } = this.options;
    const folder = persistencePath === undefined ? {} : { dataDir: persistencePath };
    this.sharedEngine.configure({
      templates: templateManager,
      mainPollMs: pollInterval,
      ...(persistenceEnabled ? folder : { dataDir: null }),
    });
    forwardEvents(this.sharedEngine, this, isOfOrchestrators);
  }

  get orchestrators(): Map<string, OrchestratorState> {
    return new Map(this.getAll().map((state) => [state.id, state]));
  }

  async create(request: NewRun): Promise<OrchestratorState> {
    for (const name of ["templateId", "cwd", "message"] as const) {
      if (typeof request?.[name] !== "string" || request[name] === "")
        throw new TuttiError("invalid_input", `A run needs "${name}". Pass a non-empty string.`);
    }
    const { agent = this.sharedEngine.agent, templateId, cwd, config } = request;
    const settings = { ...this.sharedEngine.config(templateId, cwd), ...config };
    return orchestratorState(await this.sharedEngine.engine.create({ ...request, agent, config: settings }));
  }

  async start(orchestratorId: string): Promise<OrchestratorState> {
    this.sharedEngine.watch("main", true);
    return this.#order(orchestratorId, "start");
  }

  async pause(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, "pause");
  }

  async resume(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, "resume");
  }

  async cancel(orchestratorId: string): Promise<OrchestratorState> {
    return this.#order(orchestratorId, "cancel");
  }

  /** `activateAll` resumes idle runs of the log; the main sessions of a controller are polled from now on. */
  startMonitoring(): void {
    this.sharedEngine.watch("main", true);
    this.sharedEngine.activateAll().catch((error: unknown) => console.warn("A run could not be resumed:", error));
  }

  /** Undoes the polling of `startMonitoring`. Sessions without a controller still report by themselves. */
  stopMonitoring(): void {
    this.sharedEngine.watch("main", false);
  }

  /** Does nothing without a controller, since other sessions report by themselves. */
  async pollOrchestrator(orchestratorId: string): Promise<void> {
    const { mainSessionId } = this.sharedEngine.run(orchestratorId);
    if (mainSessionId !== null) await this.sharedEngine.polled?.poll(mainSessionId);
  }

  async processPhase(orchestratorId: string, transcript: unknown): Promise<PhaseResult> {
    return processPhase(this.sharedEngine, orchestratorId, transcript);
  }

  /** Starts the run or confirms its plan, if that leads to `phase`. Cannot skip the answer of an agent. */
  async advanceToPhase(orchestratorId: string, phase: Phase): Promise<OrchestratorState> {
    const run = this.sharedEngine.run(orchestratorId);
    if (run.currentPhase === phase) return orchestratorState(run);
    if (run.status === "created" && phase === firstPhase(run)) return this.start(orchestratorId);
    if (run.status === "confirming" && phase === "workerExecution") return this.#order(orchestratorId, "confirm");
    const where = run.currentPhase === null ? run.status : `${run.status} in ${run.currentPhase}`;
    throw new TuttiError(
      "wrong_state",
      `Run "${run.id}" cannot advance to ${phase}, because it is ${where}. Wait for the phase before it.`,
    );
  }

  /** `data` takes the place of the answer of an agent that the run waits for. */
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
    const run = this.sharedEngine.engine.get(orchestratorId);
    return run && orchestratorState(run);
  }

  getAll(): OrchestratorState[] {
    return this.sharedEngine.engine.list().map(orchestratorState);
  }

  getStatus(orchestratorId: string): OrchestratorSummary | null {
    const run = this.sharedEngine.engine.get(orchestratorId);
    return run && orchestratorSummary(run);
  }

  /** Adds `toolStats` to the counts of the run. */
  updateStats(orchestratorId: string, toolStats: Readonly<Record<string, unknown>>): void {
    this.sharedEngine.run(orchestratorId);
    // If `countTools` fails, the state shows it, and an engine that cannot write reports that to all callers.
    this.sharedEngine.engine.countTools(orchestratorId, countsOf(toolStats)).catch(() => {});
  }

  /** Returns the number of runs in the log. They stay idle until `startMonitoring` or an order. */
  async loadFromDisk(): Promise<number> {
    return this.sharedEngine.engine.list().length;
  }

  /** Resolves when all earlier changes are on disk. */
  async saveToDisk(): Promise<void> {
    await this.sharedEngine.engine.flush();
  }

  /** Joins `prompt.system` and `prompt.user` with a blank line. */
  generatePrompt(template: Template, phase: Phase, variables: Readonly<Record<string, unknown>>): string {
    const prompt = template.prompts[PROMPT_OF[phase]];
    if (!prompt)
      throw new TuttiError(
        "invalid_input",
        `Template "${template.id}" has no prompt for ${phase}. Add "prompts.${PROMPT_OF[phase]}".`,
      );
    const { delimiterStart, delimiterEnd } = template.prompts.responseFormat;
    const known = { TEMPLATE_NAME: template.name, DELIMITER_START: delimiterStart, DELIMITER_END: delimiterEnd };
    const values = promptVariables(template.variables, variables, known);
    const parts = [prompt.system, prompt.user ?? ""].map((part) => substituteVariables(part, values).trim());
    return parts.filter((part) => part !== "").join("\n\n");
  }

  /** Leaves out tasks that are `skipped`. */
  buildWorkerTasks(orchestratorId: string): WorkerTask[] {
    const { tasks, skipped } = this.sharedEngine.run(orchestratorId);
    return structuredClone(tasks.filter(({ id }) => !Object.hasOwn(skipped, id))).map((task) => {
      const { id: taskId, dependencies, priority } = task;
      return { orchestratorId, taskId, task, dependencies, priority };
    });
  }

  async cleanup(orchestratorId: string, options: CleanupOptions = {}): Promise<void> {
    await this.sharedEngine.engine.cleanup(orchestratorId, options);
  }

  async listSessions(options: ListOptions = {}): Promise<ListedSession[]> {
    return listSessions(this.sharedEngine, options);
  }

  /** Closes the engine for all managers that share it. Runs that are not over continue with the next engine. */
  async close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    await this.sharedEngine.close(options);
  }

  async #order(id: string, name: "start" | "pause" | "resume" | "cancel" | "confirm"): Promise<OrchestratorState> {
    return orchestratorState(await this.sharedEngine.order(id, (engine) => engine.order(id, name)));
  }

  async #respond(id: string, phase: Phase, data: unknown): Promise<void> {
    await this.sharedEngine.order(id, (engine) => engine.respond(id, phase, data));
  }
}

const firstPhase = ({ template }: Run): Phase => (template.phases.analysis.enabled ? "analysis" : "taskPlanning");
