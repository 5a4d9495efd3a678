// The engine of a data folder with everything that observes it: log, notifications and traces.
import { join } from "node:path";
import { openDataFolder } from "./data-folder.ts";
import { openEngine, type EngineSetup, type OpenEngine } from "./open-engine.ts";
import { maskOf } from "./sessions.ts";
import { readNotifications } from "./settings.ts";
import { readVersion } from "./version.ts";
import type { Engine } from "../engine/engine.ts";
import { bellTarget } from "../notify/bell-target.ts";
import { openNotifier, type Notifier } from "../notify/notifier.ts";
import { targetsOf } from "../notify/targets-of.ts";
import type { NotificationSettings } from "../notify/notification-settings.ts";
import type { Log } from "../telemetry/log.ts";
import { openLog, type LogSettings } from "../telemetry/open-log.ts";
import { traceEngine } from "../telemetry/trace-engine.ts";
import { realWorld } from "../world.ts";

export interface LocalOptions extends EngineSetup {
  dataDir: string;
  /** Rings the bell of this terminal for a notification. */
  bell?: () => void;
  /** Called with a sentence for each failed notification. */
  warn?: (problem: string) => void;
  /** Server log, to a file or standard error. It replaces `warn`. */
  log?: LogSettings;
}

export type LocalEngine = Pick<OpenEngine, "engine" | "templates" | "trusted" | "close">;

/** Opens the engine and starts its notifier. Throws `data_folder_in_use` if another engine has the folder. */
export function openLocalEngine(options: LocalOptions): LocalEngine {
  const { notifier, ...local } = openObservedEngine(options);
  notifier.begin(null);
  return local;
}

/** Like `openLocalEngine`, but the caller starts the notifier. */
export function openObservedEngine(options: LocalOptions): OpenEngine & { notifier: Notifier; log: Log } {
  const dataDir = openDataFolder(options.dataDir);
  const settings = readNotifications(dataDir);
  const mask = maskOf(dataDir, options, webhookSecrets(settings));
  const log = openLog({ settings: options.log, warn: options.warn, now: () => realWorld.now(), mask });
  const local = openEngine({ ...options, dataDir });
  const { engine } = local;
  try {
    const notifier = openLocalNotifier(dataDir, settings, engine, mask, {
      ...options,
      ...(options.log && { warn: (problem) => log.warn(problem) }),
    });
    // A rehearsal (`scenario`) is not traced.
    const env = options.scenario === undefined ? process.env : {};
    const trace = traceEngine({ engine, env, version: readVersion(), log, mask, world: realWorld });
    const close = async (how: { leaveRunning?: boolean } = {}) => {
      await Promise.all([notifier.close(), trace.flush()]);
      await local.close(how);
      await trace.close();
    };
    return { ...local, notifier, log, close };
  } catch (error) {
    void local.close();
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
