// `openLocalEngine` opens the engine of a data folder with everything that observes it: log, notifications and traces.
import { join, resolve } from "node:path";
import { openDataFolder } from "./data-folder.ts";
import type { EngineSocket } from "./engine-socket.ts";
import type { HostedServers } from "./hosted-servers.ts";
import { openEngine, type EngineSetup, type OpenEngine } from "./open-engine.ts";
import { maskOf } from "./sessions.ts";
import { readNotifications } from "./settings.ts";
import { readVersion } from "../own-files.ts";
import type { Engine } from "../engine/engine.ts";
import type { CloseOptions } from "../engine/runs/run-registry.ts";
import { bellTarget } from "../notify/bell-target.ts";
import { openNotifier, type Notifier } from "../notify/notifier.ts";
import { targetsOf } from "../notify/targets-of.ts";
import type { NotificationSettings } from "../notify/notification-settings.ts";
import type { HostedServer } from "../schema/api/hosted-server.ts";
import { TuttiError } from "../schema/error.ts";
import type { Log } from "../telemetry/log.ts";
import { openLog, type LogSettings } from "../telemetry/open-log.ts";
import { traceEngine } from "../telemetry/trace-engine.ts";
import { realWorld } from "../world.ts";

export interface LocalOptions extends EngineSetup {
  dataDir: string;
  bell?: () => void;
  /** Gets a sentence for each failed notification, unless `log` is set. */
  warn?: (problem: string) => void;
  /** Server log, to a file or standard error. Replaces `warn`. */
  log?: LogSettings;
}

export interface LocalEngine extends Pick<OpenEngine, "engine" | "sessions" | "templates" | "trusted" | "close"> {
  /** Resolves to true when other processes can reach the engine through `engine.sock`, or to false if they cannot. */
  reachable: Promise<boolean>;
  /** Whether another process follows the run and so continues it after `close`. */
  isFollowed: (id: string) => boolean;
  /** Whether `tutti serve` of another process serves this engine and so continues all runs after `close`. */
  hasServer: () => boolean;
  /** Starts the dashboard in this process at the first call. */
  openDashboard: () => Promise<HostedServer>;
}

/** Throws `data_folder_in_use` if another engine has the folder. Unlike `openObservedEngine`, starts the notifier. */
export function openLocalEngine(options: LocalOptions): LocalEngine {
  const { notifier, ...local } = openObservedEngine(options);
  notifier.begin(null);
  // `scenario`: a rehearsal has a data folder of its own, which no other command uses.
  if (options.scenario === undefined) return withSocket(local, options);
  const openDashboard = () =>
    Promise.reject(
      new TuttiError("wrong_state", 'A rehearsal has no dashboard. Open that of your runs with "tutti open".'),
    );
  return {
    ...local,
    reachable: Promise.resolve(false),
    isFollowed: () => false,
    hasServer: () => false,
    openDashboard,
  };
}

/** Without the socket the engine works all the same, but is not `reachable`. */
function withSocket(local: OpenEngine, { dataDir, warn }: LocalOptions): LocalEngine {
  let socket: EngineSocket | null = null;
  let hosted: HostedServers | null = null;
  // The modules of the server are `loaded` while the engine already works: in `tutti run`, while the first git process runs.
  const idle = new Promise((resolve) => setImmediate(resolve));
  const loaded = idle
    .then(() => import("./hosted-servers.ts"))
    .then(({ HostedServers }) => (hosted = new HostedServers(dataDir, local)));
  const reachable = loaded
    .then(async ({ answer }) => {
      const { openEngineSocket } = await import("./engine-socket.ts");
      socket = await openEngineSocket(resolve(dataDir), { ...local, answerFirst: answer });
      return true;
    })
    .catch((error: unknown) => {
      warn?.(`Other commands cannot reach this process: ${(error as Error).message}. Steer its runs from here.`);
      return false;
    });
  const hasServer = () => hosted?.hasServer ?? false;
  // Sessions of `followed` runs stay: one of the processes that follow them becomes the next engine.
  const close = async ({ leaveRunning = false }: CloseOptions = {}) => {
    await reachable;
    const isServed = hasServer();
    await hosted?.close();
    const followed = (await socket?.close()) ?? new Set();
    const isLeft = typeof leaveRunning === "function" ? leaveRunning : () => leaveRunning;
    await local.close({ leaveRunning: (id) => isServed || followed.has(id) || isLeft(id) });
  };
  const isFollowed = (id: string) => socket?.followedRuns().has(id) ?? false;
  const openDashboard = async () => (await loaded).openDashboard();
  return { ...local, close, reachable, isFollowed, hasServer, openDashboard };
}

/** Unlike `openLocalEngine`, leaves the start of the `notifier` to the caller. */
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
    // `scenario`: a rehearsal is not traced.
    const env = options.scenario === undefined ? process.env : {};
    const trace = traceEngine({ engine, env, version: readVersion(), log, mask, world: realWorld });
    const close = async (how: CloseOptions = {}) => {
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
