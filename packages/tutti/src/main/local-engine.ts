// Builds the engine of a data folder with its store, sessions, notifier, log and tracing.
import { join, resolve } from "node:path";
import { makeDataFolder } from "./data-folder.ts";
import { MAX_WORKERS, MEMORY_PER_WORKER } from "./limits.ts";
import { maskOf, openHost, runHook, type HostOptions } from "./sessions.ts";
import { readNotifications } from "./settings.ts";
import { openTemplates } from "./templates.ts";
import { readVersion } from "../cli/version.ts";
import { readUserConfig } from "../config/config.ts";
import { withConfig } from "../config/configured-templates.ts";
import { Engine } from "../engine/engine.ts";
import type { HookFunction } from "../engine/hooks.ts";
import { TemplateLog } from "../engine/runs/template-log.ts";
import { bellTarget } from "../notify/bell-target.ts";
import { openNotifier, type Notifier } from "../notify/notifier.ts";
import { targetsOf } from "../notify/targets-of.ts";
import type { NotificationSettings } from "../schema/notification-settings.ts";
import { identify } from "../session/process.ts";
import { lockFolder } from "../store/folder-lock.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Log } from "../telemetry/log.ts";
import { openLog, type LogSettings } from "../telemetry/open-log.ts";
import { traceEngine } from "../telemetry/trace-engine.ts";
import type { TemplateLibrary } from "../template/files/library.ts";
import { TrustedPrograms } from "../template/trusted.ts";
import { createGitWorkspaces } from "../workspace/git-workspaces.ts";
import { realWorld } from "../world.ts";

export interface LocalOptions extends HostOptions {
  /** The data folder; resolved to an absolute path. */
  dataDir: string;
  maxWorkers?: number;
  hooks?: Readonly<Record<string, HookFunction>>;
  /** Concurrent workers per agent, e.g. `{ claude: 3 }`. */
  perAgent?: Readonly<Record<string, number>>;
  /** Rings the bell of this terminal for a notification. */
  bell?: () => void;
  /** Called with a sentence for each failed notification. */
  warn?: (problem: string) => void;
  /** Server log, to a file or standard error. It replaces `warn`. */
  log?: LogSettings;
}

export interface LocalEngine {
  engine: Engine;
  templates: TemplateLibrary;
  trusted: TrustedPrograms;
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}

/** Opens the engine and starts its notifier. Throws `data_folder_in_use` if another engine has the folder. */
export function openLocalEngine(options: LocalOptions): LocalEngine {
  const { notifier, templateLog: _, ...local } = openEngine(options);
  notifier.begin(null);
  return local;
}

/** Like `openLocalEngine`, but the caller starts the notifier. */
export function openEngine(
  options: LocalOptions,
): LocalEngine & { notifier: Notifier; log: Log; templateLog: TemplateLog } {
  const dataDir = resolve(options.dataDir);
  makeDataFolder(dataDir);
  const settings = readNotifications(dataDir);
  const mask = maskOf(dataDir, options, webhookSecrets(settings));
  const log = openLog({ settings: options.log, warn: options.warn, now: () => realWorld.now(), mask });
  const lock = lockFolder(dataDir, identify(process.pid)!);
  const templateLog: TemplateLog = new TemplateLog(() => engine);
  const templates = openTemplates(dataDir, (event) => templateLog.hear(event));
  const trusted = new TrustedPrograms(join(dataDir, "trusted.json"));
  let engine: Engine;
  try {
    const store = openSqliteStore(join(dataDir, "tutti.db"));
    engine = Engine.open({
      store,
      snapshots: store.snapshots,
      sessions: openHost(dataDir, options),
      workspaces: createGitWorkspaces({ folder: join(dataDir, "worktrees") }),
      world: realWorld,
      maxWorkers: options.maxWorkers ?? MAX_WORKERS,
      templates: withConfig(templates, () => readUserConfig(dataDir)),
      isTrusted: (hash) => trusted.has(hash),
      hooks: options.hooks ?? {},
      runCommand: runHook,
      memoryPerWorker: MEMORY_PER_WORKER,
      freeMemory: () => process.availableMemory(),
      ...(options.perAgent ? { perAgent: options.perAgent } : {}),
    });
    const notifier = openLocalNotifier(dataDir, settings, engine, mask, {
      ...options,
      ...(options.log && { warn: (problem) => log.warn(problem) }),
    });
    // A rehearsal (`scenario`) is not traced.
    const env = options.scenario === undefined ? process.env : {};
    const trace = traceEngine({ engine, env, version: readVersion(), log, mask, world: realWorld });
    const close = async (how: { leaveRunning?: boolean } = {}) => {
      await Promise.all([notifier.close(), trace.flush()]);
      await engine.close(how);
      await trace.close();
      lock.release();
    };
    return { engine, templates, templateLog, trusted, notifier, log, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openLocalNotifier(
  dataDir: string,
  settings: NotificationSettings,
  runs: Engine,
  mask: (text: string) => string,
  { bell, warn = (problem) => process.emitWarning(problem) }: LocalOptions,
): Notifier {
  return openNotifier({
    runs,
    targets: [
      ...targetsOf(settings, dataDir, { env: process.env, world: realWorld }),
      ...(bell && settings.bell ? [bellTarget(bell)] : []),
    ],
    on: settings.on,
    file: join(dataDir, "notified.json"),
    world: realWorld,
    mask,
    report: (problem) => warn(`Notification failed: ${mask(problem)}`),
  });
}

const webhookSecrets = ({ webhooks }: NotificationSettings): string[] =>
  webhooks.flatMap(({ secretEnv }) => (secretEnv === undefined ? [] : (process.env[secretEnv] ?? [])));
