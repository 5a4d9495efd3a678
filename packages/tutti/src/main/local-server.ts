import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { forwarderOf, serveForwarded } from "./forwarding.ts";
import type { FleetSettings } from "./held-store.ts";
import { openObservedEngine, type LocalOptions } from "./local-engine.ts";
import { openMachine } from "./machine.ts";
import type { OpenEngine } from "./open-engine.ts";
import { openTokens, readRetention } from "./settings.ts";
import { readUserConfig } from "../config/config.ts";
import type { Engine } from "../engine/engine.ts";
import { keepTrimmed } from "../engine/runs/retention.ts";
import { openAutomation, type OpenAutomation } from "../schedule/automation.ts";
import { TuttiError } from "../schema/error.ts";
import { assetPath } from "../own-files.ts";
import { allowedFolders } from "../server/access/allowed-folders.ts";
import { startServer, type ServerOptions } from "../server/start-server.ts";
import type { RequestBox } from "../store/postgres/request-box.ts";
import { loadToken } from "../server/access/token.ts";
import { logEngine } from "../telemetry/log-engine.ts";
import { errorMembers, SILENT, type Log } from "../telemetry/log.ts";
import type { TrustedPrograms } from "../template/trusted.ts";
import { realWorld } from "../world.ts";

export function openSchedules(
  dataDir: string,
  engine: Engine,
  { folders, log = SILENT }: Pick<ServerOptions, "folders" | "log"> = {},
): OpenAutomation {
  const allowed = allowedFolders(folders);
  const read = () => {
    const { schedules = {}, triggers = {} } = readUserConfig(resolve(dataDir));
    return { schedules, triggers };
  };
  const file = join(resolve(dataDir), "schedules.json");
  const mayUse = (root: string) => allowed.check(root);
  const { env } = process;
  return openAutomation({ runs: engine, read, file, world: realWorld, env, mayUse, report: log.warn });
}

interface PortOptions extends Pick<ServerOptions, "rateLimit" | "folders"> {
  dataDir: string;
  port: number;
  /** Selects a free port if `port` is in use. */
  orFreePort?: boolean | undefined;
  host: string;
  version: string;
  token?: string | undefined;
}

interface ServiceOptions extends PortOptions {
  /** Days to keep ended runs; overrides `retention` of the configuration. */
  retainDays?: number | undefined;
}

export interface LocalServerOptions extends LocalOptions, ServiceOptions, FleetSettings {
  token?: string;
  /** A PostgreSQL database, which several servers can share. Without it the log is in `dataDir`. */
  databaseUrl?: string | undefined;
}

export interface ServableEngine extends Pick<OpenEngine, "engine" | "templates" | "templateLog" | "hosts"> {
  /** Carries requests between servers that share a database. */
  requests?: RequestBox | undefined;
}

export interface ServedEngine {
  url: string;
  openUrl: string;
  close: () => Promise<void>;
}

export interface LocalServer extends Omit<ServedEngine, "close"> {
  engine: Engine;
  trusted: TrustedPrograms;
  halted: Promise<never>;
  close: (options: { leaveRunning: boolean }) => Promise<void>;
}

/** Unlike `serveEngine`, opens the engine first. */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const folders = options.folders ?? readUserConfig(resolve(options.dataDir)).server?.folders;
  const held =
    options.databaseUrl === undefined
      ? undefined
      : await (await import("./held-store.ts")).openHeldStore(options.dataDir, options.databaseUrl, options);
  const local = openObservedEngine({ ...options, held, ...(folders && { mayUse: allowedFolders(folders).check }) });
  const { engine, trusted, log } = local;
  if (options.log) logEngine(log, engine);
  try {
    const served = await serveEngine({ ...local, requests: held?.store.requests }, options, log, (url) => {
      log.info("server started", { url, version: options.version, pid: process.pid });
      local.notifier.begin(url);
    });
    const { url, openUrl } = served;
    return {
      engine,
      trusted,
      url,
      openUrl,
      halted: engine.halted,
      async close(how) {
        log.info("server stopping", { leaveRunning: how.leaveRunning });
        await served.close();
        await local.close(how);
        log.info("server stopped");
      },
    };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** Unlike `openPort`, also runs the schedules and the retention, and continues every run of the folder. */
export async function serveEngine(
  local: ServableEngine,
  options: ServiceOptions,
  log: Log = SILENT,
  onListening: (url: string) => void = () => {},
): Promise<ServedEngine> {
  const { engine, templates, templateLog } = local;
  const { url, openUrl, automation, close } = await openPort(local, options, log);
  onListening(url);
  await engine.activateAll();
  templateLog.begin();
  // `list` loads all templates and so emits their events. Nothing waits for that, so it follows the start.
  const listing = setImmediate(() => templates.list());
  automation.schedules.begin();
  const endTrimming = keepTrimmed({
    engine,
    rules: () => ({ ...readRetention(options.dataDir), ...(options.retainDays && { days: options.retainDays }) }),
    world: realWorld,
    failed: (error) => log.warn("removing a run failed", errorMembers(error)),
  });
  return {
    url,
    openUrl,
    async close() {
      clearImmediate(listing);
      await Promise.all([automation.schedules.stop(), endTrimming()]);
      await close();
    },
  };
}

export async function openPort(
  { engine, templates, requests, hosts }: ServableEngine,
  options: PortOptions,
  log: Log = SILENT,
): Promise<ServedEngine & { automation: OpenAutomation }> {
  const { dataDir, host, port, version } = options;
  const settings = readUserConfig(resolve(dataDir)).server ?? {};
  const folders = options.folders ?? settings.folders;
  const perMinute = options.rateLimit?.perMinute ?? settings.rateLimit;
  const token = loadToken(resolve(dataDir), options.token);
  const automation = openSchedules(dataDir, engine, { ...(folders && { folders }), log });
  const machine = openMachine(dataDir, version);
  const serverOptions: ServerOptions = {
    engine,
    templates,
    token,
    tokens: openTokens(dataDir),
    explicitToken: options.token !== undefined,
    host,
    port,
    version,
    webRoot: findWebRoot(),
    ...(perMinute !== undefined && { rateLimit: { perMinute } }),
    ...(folders && { folders }),
    automation,
    machine,
    ...(requests && { forward: forwarderOf(requests) }),
    ...(hosts && { hosts }),
    log,
  };
  const { url, close } = await startServer(serverOptions).catch((error: unknown) => {
    const isInUse = error instanceof TuttiError && error.code === "port_in_use";
    if (isInUse && options.orFreePort) return startServer({ ...serverOptions, port: 0 });
    throw error;
  });
  if (requests) serveForwarded(requests, url, token);
  return {
    url,
    openUrl: `${url}/?token=${encodeURIComponent(token)}`,
    automation,
    async close() {
      await Promise.all([machine.close(), close()]);
    },
  };
}

/** In a clone the built dashboard is in its own package, in an installed package it is in `dist/web`. */
function findWebRoot(): string | null {
  const page = assetPath("../web/dist/index.html", "dist/web/index.html");
  return existsSync(page) ? dirname(page) : null;
}
