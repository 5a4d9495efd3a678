// The composition root: the one file that knows every concrete part.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultDataDir } from "./cli/data-folder.ts";
import { readProjectConfig, readUserConfig } from "./config/config.ts";
import { withAgents } from "./config/configured-agents.ts";
import { withConfig } from "./config/configured-templates.ts";
import { makeFolderDurably } from "./durable-file.ts";
import { Engine } from "./engine/engine.ts";
import type { Templates } from "./engine/new-run.ts";
import type { CommandRunner, HookFunction } from "./engine/hooks.ts";
import { replay, type Replay } from "./engine/replay.ts";
import { RunShelf, summarise, type RunSummary } from "./engine/run-shelf.ts";
import { TuttiError } from "./schema/error.ts";
import type { StoredEvent } from "./schema/event.ts";
import type { Run } from "./schema/run.ts";
import type { Template } from "./schema/template.ts";
import type { TranscriptEntry } from "./schema/transcript.ts";
import type { ServerOptions } from "./server/start-server.ts";
import { createKeptHost } from "./session/kept-host.ts";
import { createPolledHost, type PolledHost } from "./session/polled-host.ts";
import { identify } from "./session/process.ts";
import { runCommand } from "./session/run-command.ts";
import { playOnly } from "./session/scripted-host.ts";
import { isSessionController, type SessionController } from "./session/session-controller.ts";
import type { SessionHost, SessionSpec } from "./session/session.ts";
import { lockFolder } from "./store/folder-lock.ts";
import { MemoryStore } from "./store/memory.ts";
import { openSqliteReader, openSqliteStore } from "./store/sqlite.ts";
import type { LogReader } from "./store/store.ts";
import { TemplateLibrary } from "./template/library.ts";
import { TrustedPrograms } from "./template/trusted.ts";
import { createGitWorkspaces } from "./workspace/git-workspaces.ts";
import { realWorld } from "./world.ts";

export { diagnose } from "./doctor/diagnose.ts";
export { CONFIG_FILE } from "./config/config.ts";
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
  const dataDir = resolve(options.dataDir);
  makeFolder(dataDir);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  const templates = openTemplates(dataDir);
  const trusted = new TrustedPrograms(join(dataDir, "trusted.json"));
  try {
    const store = openSqliteStore(join(dataDir, "tutti.db"));
    const engine = Engine.open({
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
    const close = async (how: { leaveRunning?: boolean } = {}) => {
      await engine.close(how);
      lock.release();
    };
    return { engine, templates, trusted, close };
  } catch (error) {
    lock.release();
    throw error;
  }
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
    const { sessions, polled } = stageHost(dataDir, options);
    const engine = Engine.open({
      store: isKept ? openSqliteStore(join(dataDir, "tutti.db")) : new MemoryStore(),
      sessions,
      workspaces: createGitWorkspaces({ folder: join(dataDir, "worktrees") }),
      world: realWorld,
      maxWorkers: options.maxWorkers ?? MAX_WORKERS,
      templates: options.templates ?? withConfig(openTemplates(dataDir), () => readUserConfig(dataDir)),
      isTrusted: (hash) => trusted.has(hash),
      runCommand: runHook,
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

function stageHost(dataDir: string, options: StageOptions): Pick<Stage, "sessions" | "polled"> {
  const { controller, pollMs, isWatched, settleMs } = options;
  if (controller === null) return { sessions: openHost(dataDir, { dataDir }), polled: null };
  if (!isSessionController(controller)) return { sessions: controller, polled: null };
  const settling = settleMs === undefined ? {} : { settleMs };
  const folder = join(dataDir, "sessions");
  const polled = createPolledHost({ controller, folder, world: realWorld, pollMs, isWatched, ...settling });
  return { sessions: polled, polled };
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
export const openTemplates = (dataDir: string): TemplateLibrary =>
  new TemplateLibrary({
    userFolder: join(resolve(dataDir), "templates"),
    agents: () => Object.keys(readUserConfig(resolve(dataDir)).agents),
  });

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
  const local = openLocalEngine(options);
  const { engine, templates } = local;
  try {
    const token = loadToken(resolve(options.dataDir), options.token);
    const { host, port, rateLimit, folders } = options;
    const explicitToken = options.token !== undefined;
    const server = await startServer({
      engine,
      templates,
      token,
      explicitToken,
      host,
      port,
      version: options.version,
      webRoot: findWebRoot(),
      ...(rateLimit && { rateLimit }),
      ...(folders && { folders }),
    });
    await engine.takeUpAll();
    return {
      engine,
      trusted: local.trusted,
      url: server.url,
      openUrl: `${server.url}/?token=${encodeURIComponent(token)}`,
      halted: engine.halted,
      async close(how) {
        await server.close();
        await local.close(how);
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

/** What was said in a session of a data folder after one of its entries. */
export const readTranscript = (dataDir: string, id: string, sessionId: string, after: number): TranscriptEntry[] =>
  openHost(resolve(dataDir), { dataDir }).transcript(id, sessionId, { after, limit: Number.POSITIVE_INFINITY });

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

/** The log of one run folded again, event by event, with everything about it that is not as it should be. */
export const replayLog = (dataDir: string, id: string, until?: number): Replay =>
  looking(dataDir, { steps: [], problems: [] }, (shelf, log) => replay(log.read({ run: id }), shelf.fold(id), until));

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
