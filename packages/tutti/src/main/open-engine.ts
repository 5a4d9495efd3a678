// `openEngine` builds an engine with its store, sessions, workspaces and templates, for commands, servers and the
// library alike. `openLocalEngine` adds the parts that observe an engine.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataFolder, readToken } from "./data-folder.ts";
import type { HeldStore } from "./held-store.ts";
import {
  maskOf,
  MEMORY_PER_SESSION,
  openHost,
  checkRunner,
  runHook,
  sandboxMode,
  secretsOf,
  type HostOptions,
} from "./sessions.ts";
import { openTemplates } from "./templates.ts";
import { readUserConfig } from "../config/config.ts";
import { withConfig } from "../config/configured-templates.ts";
import { Engine } from "../engine/engine.ts";
import type { HookFunction } from "../engine/hooks.ts";
import type { Templates } from "../engine/new-run.ts";
import type { CloseOptions } from "../engine/runs/run-registry.ts";
import { TemplateLog } from "../engine/runs/template-log.ts";
import { controllerSessions } from "../engine/sessions/controller-sessions.ts";
import type { OwnSessions } from "../engine/sessions/own-sessions.ts";
import type { SubSessionCare } from "../engine/sub-sessions/sub-session-part.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { withRemoteSessions } from "../fleet/remote-sessions.ts";
import { withRemoteWorkspaces } from "../fleet/remote-workspaces.ts";
import { DEFAULT_SUB_SESSION_OPTIONS } from "../schema/options.ts";
import type { Run } from "../schema/run.ts";
import { ClaudeSessions } from "../session/claude-sessions/claude-sessions.ts";
import { NAME_FINDER } from "../session/name-finder.ts";
import { withNamedHosts, type NamedAgent } from "../session/named-hosts.ts";
import { createPolledHost, type PolledHost, type PolledHostOptions } from "../session/polled/polled-host.ts";
import { withTimeout } from "../session/polled/session-controller.ts";
import { identify } from "../session/process.ts";
import { SecretVault } from "../session/secrets/secret-vault.ts";
import type { SessionHost } from "../session/session.ts";
import { lockFolder } from "../store/folder-lock.ts";
import { MemoryStore } from "../store/memory.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Hosts } from "../server/hosts.ts";
import type { TemplateLibrary } from "../template/files/library.ts";
import { TrustedPrograms } from "../template/trusted.ts";
import { Exchange } from "../workspace/exchange/exchange.ts";
import { createGitWorkspaces } from "../workspace/git-workspaces.ts";
import { realWorld, type World } from "../world.ts";

const MAX_WORKERS = 20;

export interface EngineSetup extends HostOptions {
  /** If null, the log is in memory only. */
  dataDir: string | null;
  /** A log in a database, with the lock of `dataDir`. Without it the log is in `dataDir`. */
  held?: HeldStore | undefined;
  /** Default: `openHost`, which runs sessions under keepers on this machine. */
  sessionHost?: SessionHost | undefined;
  /** A session controller, which runs the sessions instead of `sessionHost`, and how they are polled. */
  polling?: Pick<PolledHostOptions, "controller" | "pollMs" | "isWatched" | "settleMs"> | undefined;
  /** Agents by the names that runs and templates can use, besides those of the configuration. */
  agents?: Readonly<Record<string, NamedAgent>> | undefined;
  /** Replaces the templates of the data folder. */
  templates?: Templates | undefined;
  maxWorkers?: number | undefined;
  /** Maximum of parallel workers by agent, for example `{ claude: 3 }`. */
  perAgent?: Readonly<Record<string, number>>;
  /** By the names under which templates call them. */
  hooks?: Readonly<Record<string, HookFunction>> | undefined;
  /** Whether the workspace of the next task is made while another one is at work. Default: true. */
  preparesWorkspaces?: boolean;
  subSessions?: Pick<SubSessionCare, "settings" | "automatic">;
  /** Throws for a folder that runs may not use. */
  mayUse?: (folder: string) => void;
  world?: World | undefined;
}

export interface OpenEngine {
  engine: Engine;
  sessions: SessionHost;
  /** Null without `polling`. */
  polled: PolledHost | null;
  templates: TemplateLibrary;
  templateLog: TemplateLog;
  trusted: TrustedPrograms;
  /** Undefined without a `fleet`. */
  hosts?: Hosts | undefined;
  close(options?: CloseOptions): Promise<void>;
}

/** Throws `data_folder_in_use` if another engine has the folder. */
export function openEngine(setup: EngineSetup): OpenEngine {
  const isStored = setup.dataDir !== null;
  const dataDir = openDataFolder(setup.dataDir ?? mkdtempSync(join(tmpdir(), "tutti-engine-")));
  const lock = setup.held?.lock ?? lockFolder(dataDir, identify(process.pid)!);
  const release = () => {
    lock.release();
    if (!isStored) rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const { world = realWorld, maxWorkers = MAX_WORKERS, hooks = {}, perAgent } = setup;
    const settings = readUserConfig(dataDir).subSessions ?? DEFAULT_SUB_SESSION_OPTIONS;
    const subSessions = setup.subSessions ?? { settings, automatic: true };
    const trusted = new TrustedPrograms(join(dataDir, "trusted.json"));
    const templateLog: TemplateLog = new TemplateLog(() => engine);
    const templates = openTemplates(dataDir, (event) => templateLog.record(event));
    const fleet = setup.held?.fleet;
    const { sessions, polled, reach } = openSessions(dataDir, setup, world, () => engine.list());
    const durable = setup.held?.store ?? (isStored ? openSqliteStore(join(dataDir, "tutti.db")) : null);
    const engine: Engine = Engine.open({
      store: durable ?? new MemoryStore(),
      ...(durable && { snapshots: durable.snapshots }),
      sessions,
      ...openWorkspaces(dataDir, setup),
      world,
      maxWorkers,
      ...(perAgent && { perAgent }),
      templates: setup.templates ?? withConfig(templates, () => readUserConfig(dataDir)),
      isTrusted: (hash) => trusted.has(hash),
      vault: new SecretVault({ folder: join(dataDir, "vault"), secrets: secretsOf(dataDir, setup) }),
      hooks,
      dataFolder: dataDir,
      sandboxMode: () => sandboxMode(dataDir, setup),
      requiresSandbox: setup.sandbox === "required",
      runCommand: runHook,
      names: NAME_FINDER,
      subSessions: { ...subSessions, reach },
      // With `polling`, sessions do not use this machine's memory.
      ...(polled ? {} : { memoryPerWorker: MEMORY_PER_SESSION, freeMemory: () => freeMemory(fleet) }),
    });
    fleet?.onUnplaced(({ run, session, labels }) => engine.reportUnplaced(run, session, labels));
    const close = async (options: CloseOptions = {}) => {
      fleet?.leave();
      await engine.close(options);
      await fleet?.close();
      release();
    };
    return { engine, sessions, polled, templates, templateLog, trusted, hosts: fleet, close };
  } catch (error) {
    void setup.held?.store.close();
    release();
    throw error;
  }
}

/** With a `fleet`, includes the workspaces of worker hosts and the checks that run in them. */
function openWorkspaces(dataDir: string, { mayUse, held, preparesWorkspaces = true }: EngineSetup) {
  const fleet = held?.fleet;
  const folder = join(dataDir, "worktrees");
  const local = createGitWorkspaces({ folder, dataFolder: dataDir, ...(mayUse && { mayUse }) });
  const workspaces = preparesWorkspaces ? local : { ...local, prepareAhead: async () => null };
  const checks = checkRunner(dataDir);
  if (!fleet) return { workspaces, checks };
  const exchange = new Exchange(join(dataDir, "transfers"));
  return withRemoteWorkspaces({ fleet, workspaces, checks, exchange });
}

/** Sessions on worker hosts do not use this machine's memory. */
const freeMemory = (fleet: Fleet | undefined): number =>
  fleet?.hasReadyHost ? Number.POSITIVE_INFINITY : process.availableMemory();

/**
 * `reach` lets the engine's sub-session monitor use sessions that Tutti did not start: those of a controller, or the user's
 * own sessions of Claude Code.
 */
function openSessions(dataDir: string, setup: EngineSetup, world: World, runs: () => Run[]) {
  const { polling, agents } = setup;
  const named = (host: SessionHost) => (agents ? withNamedHosts(host, agents) : host);
  if (!polling) {
    const controller = new ClaudeSessions({ world });
    const outside = { controller, ownNames: () => new Set<string>(), knowsAll: false, mask: maskOf(dataDir) };
    const reach = (own: OwnSessions) => controllerSessions({ ...outside, own });
    return { sessions: named(setup.sessionHost ?? openHost(dataDir, withFleet(setup))), polled: null, reach };
  }
  const env = { ...process.env, TUTTI_TOKEN: readToken(dataDir) ?? undefined };
  const polled = createPolledHost({ ...polling, folder: join(dataDir, "sessions"), world, env });
  const controller = withTimeout(polling.controller, world);
  const ownNames = () => new Set(runs().flatMap((run) => backendIds(run, polled)));
  const reach = (own: OwnSessions) =>
    controllerSessions({ controller, own, ownNames, knowsAll: true, mask: maskOf(dataDir) });
  return { sessions: named(polled), polled, reach };
}

/**
 * Applied below `withAgents`: the server resolves the names of agents, and a host starts the agent with its own
 * environment.
 */
function withFleet(setup: EngineSetup): EngineSetup {
  const fleet = setup.held?.fleet;
  return fleet ? { ...setup, replaceHost: (kept) => withRemoteSessions(kept, fleet) } : setup;
}

function backendIds({ id, main, workers }: Run, polled: PolledHost): string[] {
  const sessions = [main, ...Object.values(workers)].flatMap((each) => each?.sessionId ?? []);
  return sessions.flatMap((sessionId) => polled.backendId(id, sessionId) ?? []);
}
