// The composition root: the one file that knows every concrete part.
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { Engine } from "./engine/engine.ts";
import { fold } from "./run/apply.ts";
import { TuttiError } from "./schema/error.ts";
import type { Run } from "./schema/run.ts";
import { createKeptHost } from "./session/kept-host.ts";
import { identify } from "./session/process.ts";
import { lockFolder } from "./store/folder-lock.ts";
import { openSqliteReader, openSqliteStore } from "./store/sqlite.ts";
import { createGitWorkspaces } from "./workspace/git-workspaces.ts";
import { realWorld } from "./world.ts";

export interface LocalOptions {
  /** Where everything is kept; made absolute. */
  dataDir: string;
  maxWorkers?: number;
  agentEnv?: Record<string, string>;
  /** How long keepers wait for an engine before they end their agent. */
  orphanAfterMs?: number;
}

export interface LocalEngine {
  engine: Engine;
  close(options?: { leaveRunning?: boolean }): Promise<void>;
}

const MAX_WORKERS = 20;

/** An engine on this machine. Fails with data_folder_in_use if there is one on the folder already. */
export function openLocalEngine(options: LocalOptions): LocalEngine {
  const dataDir = resolve(options.dataDir);
  makeFolder(dataDir);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  try {
    const engine = Engine.open({
      store: openSqliteStore(join(dataDir, "tutti.db")),
      sessions: createKeptHost({
        folder: join(dataDir, "sessions"),
        engineFile: join(dataDir, "engine.json"),
        world: realWorld,
        agentEnv: options.agentEnv ?? {},
        ...(options.orphanAfterMs === undefined ? {} : { orphanAfterMs: options.orphanAfterMs }),
      }),
      workspaces: createGitWorkspaces({ folder: join(dataDir, "worktrees") }),
      world: realWorld,
      maxWorkers: options.maxWorkers ?? MAX_WORKERS,
    });
    const close = async (how: { leaveRunning?: boolean } = {}) => {
      await engine.close(how);
      lock.release();
    };
    return { engine, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new TuttiError("storage_failed", `the data folder cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The runs of a data folder as they stand in its log, without taking the folder over. */
export function readRuns(dataDir: string): Run[] {
  const file = join(resolve(dataDir), "tutti.db");
  if (!existsSync(file)) return [];
  const log = openSqliteReader(file);
  try {
    return log.runs().map((id) => fold(null, log.read({ run: id }))!);
  } finally {
    log.close();
  }
}

/** Where data goes unless the person says otherwise: the platform's folder for it. */
export function defaultDataDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env["TUTTI_DATA_DIR"]) return resolve(env["TUTTI_DATA_DIR"]);
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "tutti");
  if (process.platform === "win32") return join(env["LOCALAPPDATA"] ?? homedir(), "tutti");
  const base = env["XDG_DATA_HOME"];
  return join(base && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "tutti");
}
