import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeDataFolder } from "./data-folder.ts";
import { MAX_WORKERS, MEMORY_PER_WORKER } from "./limits.ts";
import { keptToken, maskOf, openHost, runHook } from "./sessions.ts";
import { openTemplates } from "./templates.ts";
import { defaultDataDir } from "../cli/access/data-folder.ts";
import { readUserConfig } from "../config/config.ts";
import { withConfig } from "../config/configured-templates.ts";
import { controllerSessions } from "../engine/sessions/controller-sessions.ts";
import { Engine } from "../engine/engine.ts";
import type { HookFunction } from "../engine/hooks.ts";
import type { Templates } from "../engine/new-run.ts";
import type { OwnSessions } from "../engine/sessions/own-sessions.ts";
import type { SubSessionCare } from "../engine/sub-sessions/sub-session-part.ts";
import type { Run } from "../schema/run.ts";
import { withNamedHosts, type NamedAgent } from "../session/named-hosts.ts";
import { createPolledHost, type PolledHost } from "../session/polled/polled-host.ts";
import { identify } from "../session/process.ts";
import { impatiently, isSessionController, type SessionController } from "../session/polled/session-controller.ts";
import type { SessionHost, SessionSpec } from "../session/session.ts";
import { lockFolder } from "../store/folder-lock.ts";
import { MemoryStore } from "../store/memory.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import { TrustedPrograms } from "../template/trusted.ts";
import { createGitWorkspaces } from "../workspace/git-workspaces.ts";
import { realWorld, type World } from "../world.ts";

export interface StageOptions {
  /** The data folder; defaults to the platform's. With null the log is in memory only. */
  dataDir?: string | null | undefined;
  /** Null runs the sessions under keepers on this machine. */
  controller: SessionController | SessionHost | null;
  /** Null reads the templates of `dataDir`. */
  templates: Templates | null;
  maxWorkers: number | null;
  /** Poll interval of a controller's session; `isWatched` decides whether it is polled without an explicit call. */
  pollMs: (spec: SessionSpec) => number;
  isWatched: (spec: SessionSpec) => boolean;
  settleMs?: number;
  /** Defaults to `realWorld`. */
  world?: World;
  hooks?: Readonly<Record<string, HookFunction>>;
  agents?: Readonly<Record<string, NamedAgent>>;
  subSessions: Pick<SubSessionCare, "settings" | "automatic">;
}

export interface Stage {
  engine: Engine;
  sessions: SessionHost;
  /** `sessions`, if it is a host for a controller. */
  polled: PolledHost | null;
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}

export function openStage(options: StageOptions): Stage {
  const isKept = options.dataDir !== null;
  const dataDir = isKept ? resolve(options.dataDir ?? defaultDataDir()) : mkdtempSync(join(tmpdir(), "tutti-stage-"));
  makeDataFolder(dataDir);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  try {
    const trusted = new TrustedPrograms(join(dataDir, "trusted.json"));
    const { world = realWorld, hooks = {}, subSessions, controller } = options;
    const { sessions, polled } = stageHost(dataDir, { ...options, world });
    const ownNames = () => new Set(polled === null ? [] : engine.list().flatMap((run) => backendIds(run, polled)));
    const reach = polled && {
      reach: (own: OwnSessions) =>
        controllerSessions({
          controller: impatiently(controller as SessionController, world),
          own,
          ownNames,
          mask: maskOf(dataDir),
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
      // Sessions of a `controller` do not use this machine's memory.
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
    const host = controller ?? openHost(dataDir);
    return { sessions: withNamedHosts(host, agents), polled: null };
  }
  const settling = settleMs === undefined ? {} : { settleMs };
  const folder = join(dataDir, "sessions");
  const env = { ...process.env, TUTTI_TOKEN: keptToken(dataDir) ?? undefined };
  const polled = createPolledHost({ controller, folder, world, pollMs, isWatched, env, ...settling });
  return { sessions: withNamedHosts(polled, agents), polled };
}

function backendIds({ id, main, workers }: Run, polled: PolledHost): string[] {
  const sessions = [main, ...Object.values(workers)].flatMap((each) => each?.sessionId ?? []);
  return sessions.flatMap((sessionId) => polled.backendId(id, sessionId) ?? []);
}
