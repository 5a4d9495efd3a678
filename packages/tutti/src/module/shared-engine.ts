// `SharedEngine` is the engine of the classes of document 004. It opens on first use, so that every manager can set its
// options before. Managers with the same session controller have the same `SharedEngine`.
import { defaultDataDir } from "../main/data-folder.ts";
import { openEngine, type OpenEngine } from "../main/open-engine.ts";
import type { Engine, Listener } from "../engine/engine.ts";
import type { HookFunction } from "../engine/hooks.ts";
import type { SubSessionSettings } from "../engine/sub-sessions/sub-session-monitor.ts";
import { workerOfSession } from "../run/lookup.ts";
import { TuttiError } from "../schema/error.ts";
import { DEFAULT_SUB_SESSION_OPTIONS } from "../schema/options.ts";
import type { Run } from "../schema/run.ts";
import type { TemplateConfig } from "../schema/template.ts";
import type { Worker } from "../schema/worker.ts";
import type { NamedAgent } from "../session/named-hosts.ts";
import { CONTROLLER_AGENT } from "../session/polled/polled-host.ts";
import { isSessionController, type SessionController } from "../session/polled/session-controller.ts";
import type { SessionHost, SessionSpec } from "../session/session.ts";
import type { World } from "../world.ts";
import type { TemplateManager } from "./template-manager.ts";

/**
 * The backend of the sessions: a session controller, a session host, the name of an agent (`local`, `script:FILE`, …),
 * or none. A `SharedEngine` is that of other managers.
 */
export type Controller = SessionController | SessionHost | SharedEngine | string | null | undefined;

export interface SharedOptions {
  templates?: TemplateManager;
  dataDir?: string | null;
  maxWorkers?: number;
  mainPollMs?: number;
  workerPollMs?: number;
  settleMs?: number;
  world?: World;
  /** By the names under which templates call them. */
  hooks?: Readonly<Record<string, HookFunction>>;
  /** By the names that runs and templates can use. */
  agents?: Readonly<Record<string, NamedAgent>>;
  /** If set, `startMonitoring` starts the monitoring of sub-sessions; else the engine does. */
  subSession?: SubSessionSettings;
  /** For runs with a template that does not set these members. */
  config?: Partial<TemplateConfig>;
}

const sharedEngines = new WeakMap<object, SharedEngine>();
const DEFAULT_MAIN_POLL_MS = 3000;
/** `spawnDelay` between two workers that a controller starts. */
const CONTROLLER_SPAWN_DELAY_MS = 500;

export class SharedEngine {
  readonly #controller: SessionController | SessionHost | null;
  /** For runs that name no agent. */
  readonly agent: string | undefined;
  readonly #options: SharedOptions = {};
  readonly #listeners = new Set<Listener>();
  readonly #unwatched = new Set<"main" | "worker">();
  #opened: OpenEngine | null = null;

  constructor(controller?: Exclude<Controller, SharedEngine>) {
    this.#controller = typeof controller === "object" ? controller : null;
    if (this.#controller && !isHost(this.#controller) && !isSessionController(this.#controller))
      throw new TuttiError(
        "invalid_input",
        "The controller is neither a session controller nor a session host. Pass one of them.",
      );
    this.agent = typeof controller === "string" ? controller : this.isPolled ? CONTROLLER_AGENT : undefined;
  }

  /** Returns the same instance for the same `controller`. A name of an agent, or none, gets a new one. */
  static of(controller: Controller): SharedEngine {
    if (controller instanceof SharedEngine) return controller;
    if (typeof controller !== "object" || controller === null) return new SharedEngine(controller);
    const shared = sharedEngines.get(controller) ?? new SharedEngine(controller);
    sharedEngines.set(controller, shared);
    return shared;
  }

  get isPolled(): boolean {
    return this.#controller !== null && isSessionController(this.#controller);
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  /** Throws once the engine `isOpen`. */
  configure(options: SharedOptions): void {
    if (this.isOpen)
      throw new TuttiError("wrong_state", "The engine is already open. Create all managers before you use one.");
    const config = { ...this.#options.config, ...options.config };
    Object.assign(this.#options, options, { config });
  }

  get #open(): OpenEngine {
    if (this.#opened) return this.#opened;
    const { dataDir, settleMs, subSession, templates, maxWorkers, world, hooks, agents } = this.#options;
    const controller = this.#controller;
    const isPolled = isSessionController(controller);
    this.#opened = openEngine({
      dataDir: dataDir === undefined ? defaultDataDir() : dataDir,
      sessionHost: isPolled ? undefined : (controller ?? undefined),
      polling: isPolled
        ? {
            controller,
            pollMs: (spec) => this.#pollMs(spec),
            isWatched: ({ taskId }) => !this.#unwatched.has(taskId === null ? "main" : "worker"),
            ...(settleMs === undefined ? {} : { settleMs }),
          }
        : undefined,
      subSessions: { settings: subSession ?? DEFAULT_SUB_SESSION_OPTIONS, automatic: subSession === undefined },
      templates,
      maxWorkers,
      world,
      hooks,
      agents,
    });
    this.#opened.engine.subscribe((event, run) => {
      for (const listener of this.#listeners) listener(event, run);
    });
    return this.#opened;
  }

  #pollMs({ runId, taskId }: SessionSpec): number {
    const { mainPollMs = DEFAULT_MAIN_POLL_MS, workerPollMs } = this.#options;
    if (taskId === null) return mainPollMs;
    return workerPollMs ?? this.run(runId).template.config.pollInterval;
  }

  get engine(): Engine {
    return this.#open.engine;
  }

  get maxWorkers(): number {
    return this.#options.maxWorkers ?? Number.POSITIVE_INFINITY;
  }

  get sessions(): SessionHost {
    return this.#open.sessions;
  }

  get polled(): OpenEngine["polled"] {
    return this.#open.polled;
  }

  /** Unlike `engine.subscribe`, works before the engine is open. */
  subscribe(listener: Listener): void {
    this.#listeners.add(listener);
  }

  run(id: string): Run {
    const run = this.engine.get(id);
    if (!run) throw new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with getAll().`);
    return run;
  }

  /** Returns the runs that can have active workers. Unlike `engine.list`, does not load the state of ended runs. */
  openRuns(): Run[] {
    return this.engine.summaries().flatMap(({ id, released }) => (released ? [] : this.run(id)));
  }

  /** Sessions of earlier attempts have no worker any more, so the result is null for them. */
  find(sessionId: string): { run: Run; worker: Worker } | null {
    for (const run of this.engine.list()) {
      const worker = workerOfSession(run, sessionId);
      if (worker) return { run, worker };
    }
    return null;
  }

  worker(sessionId: string): { run: Run; worker: Worker } {
    const found = this.find(sessionId);
    if (!found)
      throw new TuttiError(
        "worker_not_found",
        `Worker "${sessionId}" does not exist. List workers with getAllWorkers().`,
      );
    return found;
  }

  /** `activate` resumes the run if it was idle. */
  async order(id: string, give: (engine: Engine) => Promise<Run>): Promise<Run> {
    const run = await give(this.engine);
    await this.engine.activate(id);
    return run;
  }

  /** Returns `config` for a new run without the members that its template sets. */
  config(templateId: string, cwd: string): Partial<TemplateConfig> {
    const { config = {}, templates } = this.#options;
    const settings = this.isPolled ? { spawnDelay: CONTROLLER_SPAWN_DELAY_MS, ...config } : config;
    const templateSettings = templates?.settingsOf(templateId, cwd) ?? new Set<string>();
    return Object.fromEntries(Object.entries(settings).filter(([name]) => !templateSettings.has(name)));
  }

  /** Turns polling on or off for sessions of a controller. Other sessions report by themselves. */
  watch(role: "main" | "worker", isWatched: boolean): void {
    if (isWatched) this.#unwatched.delete(role);
    else this.#unwatched.add(role);
  }

  async activateAll(): Promise<void> {
    await this.engine.activateAll();
  }

  /** Runs that are not over can be resumed by the next engine. A later `SharedEngine.of` opens one. */
  async close(options: { leaveRunning?: boolean } = {}): Promise<void> {
    if (this.#controller) sharedEngines.delete(this.#controller);
    await this.#opened?.close(options);
  }
}

const isHost = (value: object): value is SessionHost =>
  (["open", "reap", "end", "archive", "transcript", "check"] as const).every(
    (name) => typeof (value as Partial<SessionHost>)[name] === "function",
  );
