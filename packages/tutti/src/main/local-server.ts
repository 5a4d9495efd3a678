import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openObservedEngine, type LocalOptions } from "./local-engine.ts";
import { openMachine } from "./machine.ts";
import { openTokens, readRetention } from "./settings.ts";
import { readUserConfig } from "../config/config.ts";
import type { Engine } from "../engine/engine.ts";
import { keepTrimmed } from "../engine/runs/retention.ts";
import { openAutomation, type OpenAutomation } from "../schedule/automation.ts";
import { allowedFolders } from "../server/access/allowed-folders.ts";
import { startServer, type ServerOptions } from "../server/start-server.ts";
import { loadToken } from "../server/access/token.ts";
import { logEngine } from "../telemetry/log-engine.ts";
import { errorMembers, SILENT } from "../telemetry/log.ts";
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

export interface LocalServerOptions extends LocalOptions, Pick<ServerOptions, "rateLimit" | "folders"> {
  port: number;
  host: string;
  version: string;
  /** Days to keep ended runs; overrides `retention` of the configuration. */
  retainDays?: number;
}

export interface LocalServer {
  engine: Engine;
  trusted: TrustedPrograms;
  url: string;
  /** URL that signs a browser in with the token. */
  openUrl: string;
  halted: Promise<never>;
  close(options: { leaveRunning: boolean }): Promise<void>;
}

/** Also continues every run of the folder. */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const folders = options.folders ?? readUserConfig(resolve(options.dataDir)).server?.folders;
  const local = openObservedEngine({ ...options, ...(folders && { mayUse: allowedFolders(folders).check }) });
  const { engine, templates, log } = local;
  if (options.log) logEngine(log, engine);
  try {
    const token = loadToken(resolve(options.dataDir), options.token);
    const { host, port } = options;
    const settings = readUserConfig(resolve(options.dataDir)).server ?? {};
    const perMinute = options.rateLimit?.perMinute ?? settings.rateLimit;
    const explicitToken = options.token !== undefined;
    const automation = openSchedules(options.dataDir, engine, { ...(folders && { folders }), log });
    const machine = openMachine(options.dataDir, options.version);
    const server = await startServer({
      engine,
      templates,
      token,
      tokens: openTokens(options.dataDir),
      explicitToken,
      host,
      port,
      version: options.version,
      webRoot: findWebRoot(),
      ...(perMinute !== undefined && { rateLimit: { perMinute } }),
      ...(folders && { folders }),
      automation,
      machine,
      log,
    });
    log.info("server started", { url: server.url, version: options.version, pid: process.pid });
    local.notifier.begin(server.url);
    await engine.activateAll();
    local.templateLog.begin();
    // `list` loads all templates and so emits their events.
    templates.list();
    automation.schedules.begin();
    const endTrimming = keepTrimmed({
      engine,
      rules: () => ({ ...readRetention(options.dataDir), ...(options.retainDays && { days: options.retainDays }) }),
      world: realWorld,
      failed: (error) => log.warn("removing a run failed", errorMembers(error)),
    });
    return {
      engine,
      trusted: local.trusted,
      url: server.url,
      openUrl: `${server.url}/?token=${encodeURIComponent(token)}`,
      halted: engine.halted,
      async close(how) {
        log.info("server stopping", { leaveRunning: how.leaveRunning });
        await Promise.all([automation.schedules.stop(), endTrimming(), machine.close()]);
        await server.close();
        await local.close(how);
        log.info("server stopped");
      },
    };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** The built dashboard is beside this folder when installed, and in its own package in a checkout. */
function findWebRoot(): string | null {
  const candidates = ["../web", "../../../web/dist"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return candidates.find((folder) => existsSync(join(folder, "index.html"))) ?? null;
}
