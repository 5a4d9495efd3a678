// `OrchestratorModule` of document 004 has all managers on one engine, and one emitter for all events.
import { EventEmitter } from "node:events";
import { resolve } from "node:path";
import type { z } from "zod";
import { SharedEngine, type Controller, type SharedOptions } from "./shared-engine.ts";
import { forwardEvents, isOfTemplates, type ModuleEvents } from "./module-events.ts";
import { OrchestratorManager } from "./orchestrator-manager.ts";
import type { OrchestratorState } from "./orchestrator-state.ts";
import { activeCount } from "./spawn-tasks.ts";
import { SubSessionManager } from "./sub-session-manager.ts";
import { TEMPLATE_EVENTS, TemplateManager } from "./template-manager.ts";
import { WorkerManager } from "./worker-manager.ts";
import type { CleanupOptions, CleanupResult } from "../engine/runs/cleanup.ts";
import { countConfirmed, type ConfirmedCounts } from "../engine/sub-sessions/count-confirmed.ts";
import type { NewRun } from "../engine/new-run.ts";
import type { RunSummary } from "../engine/runs/finished-runs.ts";
import { TemplateLog } from "../engine/runs/template-log.ts";
import { ResponseParser } from "../protocol/response/response-parser.ts";
import { workersOf } from "../run/lookup.ts";
import type { PlanChanges } from "../run/command.ts";
import type { OrchestratorOptions, SubSessionOptions, WorkerOptions } from "../schema/options.ts";
import { isRunOver } from "../schema/status.ts";

export interface ModuleOptions extends Pick<SharedOptions, "hooks" | "agents"> {
  /** The folder with the templates. Only those in its subfolder `custom` can be changed. */
  templatesDir?: string;
  parser?: ConstructorParameters<typeof ResponseParser>[0];
  worker?: Partial<z.input<typeof WorkerOptions>>;
  orchestrator?: z.input<typeof OrchestratorOptions>;
  subSession?: Partial<z.input<typeof SubSessionOptions>>;
}

export interface ActiveSummary extends Pick<RunSummary, "id" | "templateId" | "status" | "currentPhase" | "taskCount"> {
  activeWorkers: number;
}

export interface CleanedUp {
  /** True if the run was not over and so had to be cancelled first. */
  cancelled: boolean;
  workers: Pick<CleanupResult, "archived" | "deleted" | "errors">;
  /** True if `archiveWorkers` was set and no session failed to be archived. */
  archived: boolean;
}

export class OrchestratorModule extends EventEmitter<ModuleEvents> {
  readonly templates: TemplateManager;
  readonly orchestrators: OrchestratorManager;
  readonly workers: WorkerManager;
  readonly parser: ResponseParser;
  readonly subSessions: SubSessionManager;
  readonly sharedEngine: SharedEngine;

  constructor(cdpController: Controller, options: ModuleOptions = {}) {
    super();
    const { templatesDir = "./templates", parser, worker, orchestrator, subSession, hooks, agents } = options;
    this.sharedEngine = SharedEngine.of(cdpController);
    this.sharedEngine.configure({ ...(hooks && { hooks }), ...(agents && { agents }) });
    this.templates = new TemplateManager(resolve(templatesDir));
    this.parser = new ResponseParser(parser);
    this.orchestrators = new OrchestratorManager(this.templates, this.parser, this.sharedEngine, orchestrator);
    this.workers = new WorkerManager(this.sharedEngine, this.parser, worker);
    this.subSessions = new SubSessionManager(this.sharedEngine, subSession);
    // Events of runs, workers and sub-sessions come from the log in their order. Templates are files, so
    // `TemplateManager` emits their events.
    forwardEvents(this.sharedEngine, this, (type) => !isOfTemplates(type));
    this.#forwardTemplates();
  }

  /** `activateAll` resumes the runs of the log. */
  async initialize(): Promise<void> {
    // `TemplateLog` needs an open log, so `activateAll` comes before `templates.initialize`.
    await this.sharedEngine.activateAll();
    await this.templates.initialize();
    this.subSessions.startMonitoring();
  }

  async createAndStart(request: NewRun): Promise<OrchestratorState> {
    const { id } = await this.orchestrators.create(request);
    return this.orchestrators.start(id);
  }

  getActiveSummary(): ActiveSummary[] {
    const { engine } = this.sharedEngine;
    const open = engine.summaries().filter(({ status }) => !isRunOver(status));
    return open.map(({ id, templateId, status, currentPhase, taskCount }) => {
      return { id, templateId, status, currentPhase, taskCount, activeWorkers: activeCount(this.sharedEngine.run(id)) };
    });
  }

  async confirmTasksAndSpawn(
    orchestratorId: string,
    modifications: NonNullable<PlanChanges["tasks"]> = {},
  ): Promise<ConfirmedCounts> {
    const run = await this.sharedEngine.order(orchestratorId, (engine) =>
      engine.order(orchestratorId, "confirm", { modifications }),
    );
    return countConfirmed(run);
  }

  /** `unregisterAllChildren` removes the sub-sessions of its sessions before the run is cleaned up. */
  async cancelAndCleanup(orchestratorId: string, options: CleanupOptions = {}): Promise<CleanedUp> {
    const { archiveWorkers = true } = options;
    const run = this.sharedEngine.run(orchestratorId);
    const cancelled = !isRunOver(run.status);
    if (cancelled) await this.sharedEngine.order(orchestratorId, (engine) => engine.order(orchestratorId, "cancel"));
    const sessions = [run.mainSessionId, ...workersOf(run).map(({ sessionId }) => sessionId)];
    for (const sessionId of sessions) if (sessionId !== null) await this.subSessions.unregisterAllChildren(sessionId);
    const result = await this.sharedEngine.engine.cleanup(orchestratorId, options);
    const { archived, deleted, errors } = result;
    return { cancelled, workers: { archived, deleted, errors }, archived: archiveWorkers && errors.length === 0 };
  }

  /** Closes the engine for all managers. Runs that are not over continue with the next engine. */
  async close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    if (this.sharedEngine.isOpen) this.subSessions.stopMonitoring();
    await this.sharedEngine.close(options);
  }

  /** Templates are files, so their events are emitted immediately. `log.record` appends them if the engine is open. */
  #forwardTemplates(): void {
    const emit = this.emit.bind(this) as (type: string, data: unknown) => boolean;
    const log = new TemplateLog(() => this.sharedEngine.engine);
    log.begin();
    for (const type of TEMPLATE_EVENTS) {
      this.templates.on(type, (data: unknown) => {
        if (this.sharedEngine.isOpen) log.record({ type, data } as Parameters<TemplateLog["record"]>[0]);
        emit(type, data);
      });
    }
  }
}
