// The composition root: the one file that knows every concrete part.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultDataDir } from "./cli/data-folder.ts";
import { readVersion } from "./cli/version.ts";
import { readProjectConfig, readUserConfig, type UserConfig } from "./config/config.ts";
import { withAgents } from "./config/configured-agents.ts";
import { withConfig } from "./config/configured-templates.ts";
import { makeFolderDurably } from "./durable-file.ts";
import { controllerSessions } from "./engine/controller-sessions.ts";
import { Engine } from "./engine/engine.ts";
import type { Templates } from "./engine/new-run.ts";
import type { CommandRunner, HookFunction } from "./engine/hooks.ts";
import { replay, type Replay } from "./engine/replay.ts";
import { keepTrimmed } from "./engine/retention.ts";
import type { OpenAutomation } from "./schedule/automation.ts";
import type { OwnSessions } from "./engine/own-sessions.ts";
import type { SubSessionCare } from "./engine/sub-session-part.ts";
import { TemplateLog } from "./engine/template-log.ts";
import { RunShelf, summarise, type RunSummary } from "./engine/run-shelf.ts";
import { bellTarget } from "./notify/bell-target.ts";
import { openNotifier, type Notifier } from "./notify/notifier.ts";
import { targetsOf, testTargets, type Tested } from "./notify/targets-of.ts";
import { TuttiError } from "./schema/error.ts";
import type { StoredEvent } from "./schema/event.ts";
import { NotificationSettings } from "./schema/notification-settings.ts";
import type { Run } from "./schema/run.ts";
import type { Template } from "./schema/template.ts";
import type { TranscriptEntry } from "./schema/transcript.ts";
import { NamedTokens } from "./server/named-tokens.ts";
import type { ServerOptions } from "./server/start-server.ts";
import { createKeptHost } from "./session/kept-host.ts";
import { withNamedHosts, type NamedAgent } from "./session/named-hosts.ts";
import { createPolledHost, type PolledHost } from "./session/polled-host.ts";
import { createSecrets, type Secrets } from "./session/find-secrets.ts";
import { maskValue } from "./session/mask.ts";
import { identify } from "./session/process.ts";
import { runCommand } from "./session/run-command.ts";
import { playOnly } from "./session/scripted-host.ts";
import { secretValues } from "./session/secrets.ts";
import { impatiently, isSessionController, type SessionController } from "./session/session-controller.ts";
import type { SessionHost, SessionSpec } from "./session/session.ts";
import { lockFolder } from "./store/folder-lock.ts";
import { MemoryStore } from "./store/memory.ts";
import { openSqliteReader, openSqliteStore } from "./store/sqlite.ts";
import type { LogReader } from "./store/store.ts";
import { logEngine } from "./telemetry/log-engine.ts";
import { errorMembers, SILENT, type Log } from "./telemetry/log.ts";
import { openLog, type LogSettings } from "./telemetry/open-log.ts";
import { traceEngine } from "./telemetry/trace-engine.ts";
import { TemplateLibrary, type LibraryOptions } from "./template/library.ts";
import { TrustedPrograms } from "./template/trusted.ts";
import { createGitWorkspaces } from "./workspace/git-workspaces.ts";
import { realWorld, type World } from "./world.ts";

export { diagnose } from "./doctor/diagnose.ts";
export { CONFIG_FILE } from "./config/config.ts";
export { readLogLevel } from "./telemetry/log.ts";
export { writeCopy as copyOf } from "./engine/run-copy.ts";
export { identify, isAlive } from "./session/process.ts";
export { rehearsalScenario, rehearsedTemplate } from "./session/drivers/script/rehearsal.ts";
export { parseTemplate } from "./template/read-file.ts";
export { exportCommit, makeRepository } from "./workspace/sample.ts";

export interface LocalOptions {
  /** Where everything is kept; made absolute. */
  dataDir: string;
  maxWorkers?: number;
  agentEnv?: Record<string, string>;
  /** The person's own token for the server; otherwise the one kept in the data folder. No agent is to show it. */
  token?: string;
  /** How long keepers wait for an engine before they end their agent. */
  orphanAfterMs?: number;
  /** A scenario file that every session plays, whatever agent was named: for rehearsals. */
  scenario?: string;
  /** Functions that templates can name as hooks. */
  hooks?: Readonly<Record<string, HookFunction>>;
  /** Workers at the same time for one agent, e.g. `{ claude: 3 }`. */
  perAgent?: Readonly<Record<string, number>>;
  /** Rings for a person at this terminal when there is something to tell them. */
  bell?: () => void;
  /** Hears, in a sentence, of what the person could not be told. */
  warn?: (problem: string) => void;
  /** A log for whoever runs a server, instead of such sentences; a file, or standard error. */
  log?: LogSettings;
}

export interface LocalEngine {
  engine: Engine;
  templates: TemplateLibrary;
  trusted: TrustedPrograms;
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}

const MAX_WORKERS = 20;
/** What a coding agent needs beside its model, as seen with real ones. */
const MEMORY_PER_WORKER = 300 * 1024 * 1024;

/** An engine on this machine. Fails with data_folder_in_use if there is one on the folder already. */
export function openLocalEngine(options: LocalOptions): LocalEngine {
  const { notifier, templateLog: _, ...local } = openEngine(options);
  notifier.begin(null);
  return local;
}

/** The same before anybody is told of anything. */
function openEngine(options: LocalOptions): LocalEngine & { notifier: Notifier; log: Log; templateLog: TemplateLog } {
  const dataDir = resolve(options.dataDir);
  makeFolder(dataDir);
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
    // Nobody wants to see rehearsals among the runs.
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

/** Takes out of any value what is secret here: of the environment, of agents, `others`, and the server's own token. */
function maskOf(dataDir: string, { token, agentEnv }: LocalOptions, others: readonly string[]): <T>(value: T) => T {
  let secrets: Secrets | null = null;
  return (value) => {
    // Made when it is first needed: by then the folder has a token.
    const own = token ?? keptToken(dataDir);
    const known = [...secretValues({ ...process.env, ...agentEnv }), ...others];
    secrets ??= createSecrets([...known, ...(own === null ? [] : [own])]);
    return maskValue(secrets, value);
  };
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
    report: (problem) => warn(`a notification: ${mask(problem)}`),
  });
}

const webhookSecrets = ({ webhooks }: NotificationSettings): string[] =>
  webhooks.flatMap(({ secretEnv }) => (secretEnv === undefined ? [] : (process.env[secretEnv] ?? [])));

/** What the person's configuration says about notifications, or what holds if it says nothing. */
export const readNotifications = (dataDir: string): NotificationSettings =>
  readUserConfig(resolve(dataDir)).notifications ?? NotificationSettings.parse({});

/** Tells everybody whom the person's configuration names that this is a test. */
export function testNotifications(dataDir: string): Promise<Tested[]> {
  const surroundings = { env: process.env, world: realWorld };
  return testTargets(targetsOf(readNotifications(dataDir), resolve(dataDir), surroundings), surroundings);
}

export interface StageOptions {
  /** Where everything is kept, the platform's folder unless given; or null: the log lives in memory and ends with us. */
  dataDir?: string | null | undefined;
  /** Who runs the sessions; our own keepers unless given. */
  controller: SessionController | SessionHost | null;
  /** Where templates come from; the data folder's unless given. */
  templates: Templates | null;
  maxWorkers: number | null;
  /** For controllers that are polled: how often, and whether by itself. */
  pollMs: (spec: SessionSpec) => number;
  isWatched: (spec: SessionSpec) => boolean;
  settleMs?: number;
  /** The machine's own unless given. */
  world?: World;
  /** Functions that templates can name as hooks. */
  hooks?: Readonly<Record<string, HookFunction>>;
  /** Agents by names that the program gives them. */
  agents?: Readonly<Record<string, NamedAgent>>;
  subSessions: Pick<SubSessionCare, "settings" | "automatic">;
}

export interface Stage {
  engine: Engine;
  sessions: SessionHost;
  /** The same host, if it runs a controller's sessions. */
  polled: PolledHost | null;
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}

/** An engine for the classes of document 004. */
export function openStage(options: StageOptions): Stage {
  const isKept = options.dataDir !== null;
  const dataDir = isKept ? resolve(options.dataDir ?? defaultDataDir()) : mkdtempSync(join(tmpdir(), "tutti-stage-"));
  makeFolder(dataDir);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  try {
    const trusted = new TrustedPrograms(join(dataDir, "trusted.json"));
    const { world = realWorld, hooks = {}, subSessions, controller } = options;
    const { sessions, polled } = stageHost(dataDir, { ...options, world });
    const namesOfOurs = () => new Set(polled === null ? [] : engine.list().flatMap((run) => backendIds(run, polled)));
    const reach = polled && {
      reach: (own: OwnSessions) =>
        controllerSessions({
          controller: impatiently(controller as SessionController, world),
          own,
          ownNames: namesOfOurs,
          mask: maskOf(dataDir, { dataDir }, []),
        }),
    };
    const engine: Engine = Engine.open({
      store: isKept ? openSqliteStore(join(dataDir, "tutti.db")) : new MemoryStore(),
      sessions,
      workspaces: createGitWorkspaces({ folder: join(dataDir, "worktrees") }),
      world,
      maxWorkers: options.maxWorkers ?? MAX_WORKERS,
      templates: options.templates ?? withConfig(openTemplates(dataDir), () => readUserConfig(dataDir)),
      isTrusted: (hash) => trusted.has(hash),
      hooks,
      runCommand: runHook,
      subSessions: { ...subSessions, ...reach },
      // What a controller starts lives elsewhere.
      ...(polled ? {} : { memoryPerWorker: MEMORY_PER_WORKER, freeMemory: () => process.availableMemory() }),
    });
    const close = async (how: { leaveRunning?: boolean } = {}) => {
      await engine.close(how);
      lock.release();
      if (!isKept) rmSync(dataDir, { recursive: true, force: true });
    };
    return { engine, sessions, polled, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function stageHost(dataDir: string, options: StageOptions & { world: World }): Pick<Stage, "sessions" | "polled"> {
  const { controller, pollMs, isWatched, settleMs, world, agents = {} } = options;
  if (controller === null || !isSessionController(controller)) {
    const host = controller ?? openHost(dataDir, { dataDir });
    return { sessions: withNamedHosts(host, agents), polled: null };
  }
  const settling = settleMs === undefined ? {} : { settleMs };
  const folder = join(dataDir, "sessions");
  const env = { ...process.env, TUTTI_TOKEN: keptToken(dataDir) ?? undefined };
  const polled = createPolledHost({ controller, folder, world, pollMs, isWatched, env, ...settling });
  return { sessions: withNamedHosts(polled, agents), polled };
}

/** What the controller calls the sessions of a run. */
function backendIds({ id, main, workers }: Run, polled: PolledHost): string[] {
  const sessions = [main, ...Object.values(workers)].flatMap((each) => each?.sessionId ?? []);
  return sessions.flatMap((sessionId) => polled.backendId(id, sessionId) ?? []);
}

function openHost(dataDir: string, options: LocalOptions): SessionHost {
  const hostWith = (variables: readonly string[]): SessionHost =>
    createKeptHost({
      folder: join(dataDir, "sessions"),
      engineFile: join(dataDir, "engine.json"),
      world: realWorld,
      agentEnv: { ...fromEnvironment(variables), ...options.agentEnv },
      token: () => options.token ?? keptToken(dataDir),
      ...(options.orphanAfterMs === undefined ? {} : { orphanAfterMs: options.orphanAfterMs }),
    });
  const host = withAgents(hostWith([]), () => readUserConfig(dataDir).agents, hostWith);
  return options.scenario === undefined ? host : playOnly(host, options.scenario);
}

function fromEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function keptToken(dataDir: string): string | null {
  const file = join(dataDir, "token");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

/** The templates of a data folder: those that come with Tutti and the person's own. */
export const openTemplates = (dataDir: string, tell?: LibraryOptions["tell"]): TemplateLibrary =>
  new TemplateLibrary({
    ...(tell && { tell }),
    userFolder: join(resolve(dataDir), "templates"),
    agents: () => Object.keys(readUserConfig(resolve(dataDir)).agents),
  });

/** The named tokens of a data folder; a server on it reads the same files. */
export const openTokens = (dataDir: string): NamedTokens => new NamedTokens(resolve(dataDir));

/** The schedules and triggers of a data folder, for the engine that works on it. */
export async function openSchedules(
  dataDir: string,
  engine: Engine,
  { folders, log = SILENT }: Pick<ServerOptions, "folders" | "log"> = {},
): Promise<OpenAutomation> {
  // Loaded here for the same reason as the server.
  const [{ openAutomation }, { allowedFolders }] = await Promise.all([
    import("./schedule/automation.ts"),
    import("./server/allowed-folders.ts"),
  ]);
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

const runHook: CommandRunner = (command, { runId, ...options }) => {
  const env = fromEnvironment(["PATH", "HOME", "LANG", "TZ", "TMPDIR"]);
  return runCommand(command, { ...options, env: { ...env, TUTTI_RUN_ID: runId } });
};

function makeFolder(folder: string): void {
  try {
    makeFolderDurably(folder, 0o700);
  } catch (error) {
    throw new TuttiError("storage_failed", `the data folder cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export interface LocalServerOptions extends LocalOptions, Pick<ServerOptions, "rateLimit" | "folders"> {
  port: number;
  host: string;
  version: string;
  /** For how long runs that are over are kept, instead of what the configuration says. */
  retainDays?: number;
}

export interface LocalServer {
  engine: Engine;
  trusted: TrustedPrograms;
  url: string;
  /** The address that hands the token over to a browser. */
  openUrl: string;
  /** Rejects when the engine cannot go on. */
  halted: Promise<never>;
  close(options: { leaveRunning: boolean }): Promise<void>;
}

/** An engine with its server and dashboard; every run of the folder is taken up. */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  // Loaded here, because most commands need no server and should not wait for one.
  const [{ startServer }, { loadToken }] = await Promise.all([
    import("./server/start-server.ts"),
    import("./server/token.ts"),
  ]);
  const local = openEngine(options);
  const { engine, templates, log } = local;
  if (options.log) logEngine(log, engine);
  try {
    const token = loadToken(resolve(options.dataDir), options.token);
    const { host, port } = options;
    const settings = readUserConfig(resolve(options.dataDir)).server ?? {};
    const perMinute = options.rateLimit?.perMinute ?? settings.rateLimit;
    const folders = options.folders ?? settings.folders;
    const explicitToken = options.token !== undefined;
    const automation = await openSchedules(options.dataDir, engine, { ...(folders && { folders }), log });
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
      log,
    });
    log.info("server started", { url: server.url, version: options.version, pid: process.pid });
    local.notifier.begin(server.url);
    await engine.takeUpAll();
    local.templateLog.begin();
    // Whoever looks tells of what is there.
    templates.list();
    automation.schedules.begin();
    const endTrimming = keepTrimmed({
      engine,
      rules: () => ({ ...readRetention(options.dataDir), ...(options.retainDays && { days: options.retainDays }) }),
      world: realWorld,
      failed: (error) => log.warn("a run could not be removed", errorMembers(error)),
    });
    return {
      engine,
      trusted: local.trusted,
      url: server.url,
      openUrl: `${server.url}/?token=${encodeURIComponent(token)}`,
      halted: engine.halted,
      async close(how) {
        log.info("server ends", { leaveRunning: how.leaveRunning });
        await Promise.all([automation.schedules.stop(), endTrimming()]);
        await server.close();
        await local.close(how);
        log.info("server ended");
      },
    };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** The built dashboard: beside this file when installed, in its own package in a checkout. */
function findWebRoot(): string | null {
  const candidates = ["./web", "../../web/dist"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return candidates.find((folder) => existsSync(join(folder, "index.html"))) ?? null;
}

/** What lists show of the runs of a data folder as they stand in its log, without taking the folder over. */
export const readSummaries = (dataDir: string): RunSummary[] =>
  looking(dataDir, [], (shelf) => {
    const open = shelf.open().map(summarise);
    return [...shelf.summaries(), ...open].toSorted((a, b) => a.createdAt - b.createdAt);
  });

/** One run of a data folder in the same way. */
export const readRun = (dataDir: string, id: string): Run | null => looking(dataDir, null, (shelf) => shelf.fold(id));

/** The events of one run of a data folder after one of them. */
export const readEvents = (dataDir: string, id: string, after: number): StoredEvent[] =>
  looking(dataDir, [], (_, log) => log.read({ run: id, after }));

/** What was said in sessions of a data folder after one of their entries. Whoever asks again is read on to from there. */
export function openTranscripts(dataDir: string) {
  const host = openHost(resolve(dataDir), { dataDir });
  return (id: string, sessionId: string, after: number): TranscriptEntry[] =>
    host.transcript(id, sessionId, { after, limit: Number.POSITIVE_INFINITY });
}

/** What the person's configuration and the project's say together, the nearer one first. */
export function readConfig(dataDir: string, project: string) {
  const own = readUserConfig(resolve(dataDir));
  const theirs = readProjectConfig(project);
  return {
    agent: theirs.agent ?? own.agent,
    template: theirs.template ?? own.template,
    /** What the project calls its agents. */
    agentsOfProject: theirs.agents,
  };
}

/** Which runs that are over the person wants to keep; undefined for all. */
export const readRetention = (dataDir: string): UserConfig["retention"] => readUserConfig(resolve(dataDir)).retention;

/** The log of one run folded again, event by event, with everything about it that is not as it should be. */
export const replayLog = (dataDir: string, id: string): Replay =>
  looking(dataDir, { steps: [], problems: [] }, (shelf, log) => replay(log.read({ run: id }), shelf.fold(id)));

function looking<T>(dataDir: string, nothing: T, look: (shelf: RunShelf, log: LogReader) => T): T {
  const file = join(resolve(dataDir), "tutti.db");
  if (!existsSync(file)) return nothing;
  const log = openSqliteReader(file);
  try {
    return look(new RunShelf(log, log.snapshots), log);
  } finally {
    log.close();
  }
}

/** The template that the id means in a project, for commands that only look. */
export function findTemplate(dataDir: string, id: string, project: string): Template {
  return openTemplates(dataDir).resolve(id, project).template;
}

// What the commands on files of messages need; they work without an engine.
export { Mailbox } from "./mailbox/mailbox.ts";
export type { Layout } from "./mailbox/layout.ts";
export { detectProtocol } from "./protocol/canonical/detect-protocol.ts";
export type { Protocol } from "./protocol/canonical/protocol-name.ts";
export { readMessage } from "./protocol/canonical/read-message.ts";
export { translate } from "./protocol/canonical/translate.ts";
export { readConfigFile, readMessageFile, readQueueFile, readStatusFile } from "./protocol/mailbox/mailbox-file.ts";
export type { Problem, ReadOptions } from "./protocol/profile.ts";
export { ResponseParser } from "./protocol/response-parser.ts";
export { readTolerantly } from "./protocol/tolerant-json.ts";
export { realWorld } from "./world.ts";
