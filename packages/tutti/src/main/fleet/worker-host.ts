// `serveAsHost` composes a worker host: sessions under keepers, git workspaces and the access to the database.
import { mkdirSync, realpathSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { openDataFolder } from "../data-folder.ts";
import { checkRunner, maskOf, MEMORY_PER_SESSION, openHost } from "../sessions.ts";
import { provideHostTables } from "../../fleet/fleet.ts";
import { runWorker } from "../../fleet/worker.ts";
import { readVersion } from "../../own-files.ts";
import { BUILT_IN_AGENTS } from "../../schema/agent/built-in-agents.ts";
import { identify } from "../../session/process.ts";
import type { SessionHost } from "../../session/session.ts";
import { lockFolder } from "../../store/folder-lock.ts";
import { openDatabase } from "../../store/postgres/database.ts";
import { Exchange } from "../../workspace/exchange/exchange.ts";
import { createGitWorkspaces } from "../../workspace/git-workspaces.ts";
import { realWorld } from "../../world.ts";

interface WorkerHostOptions {
  dataDir: string;
  databaseUrl: string;
  labels: Record<string, string>;
  /** The most sessions at a time. Default: half of the memory, at `MEMORY_PER_SESSION` each. */
  capacity?: number | undefined;
  repository?: string | undefined;
  agentEnv: Record<string, string>;
  graceMs: number;
  drain: AbortSignal;
  onJoined: (host: { id: string; name: string }) => void;
  report: (line: string) => void;
}

export async function serveAsHost(options: WorkerHostOptions): Promise<void> {
  const { dataDir, databaseUrl, labels, repository, agentEnv, graceMs, drain, onJoined, report } = options;
  const parent = join(openDataFolder(resolve(dataDir)), "worker");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const folder = realpathSync(parent);
  const database = await openDatabase({ url: databaseUrl, name: "tutti worker" });
  try {
    await provideHostTables(database);
    const lock = lockFolder(folder, identify(process.pid)!);
    const sessions = withMaskedPrompts(openHost(folder, { agentEnv }), maskOf(folder, { agentEnv }));
    const workspaces = createGitWorkspaces({ folder: join(folder, "worktrees") });
    const memory = totalmem();
    const capacity = options.capacity ?? Math.max(1, Math.floor(memory / MEMORY_PER_SESSION / 2));
    try {
      await runWorker({
        database,
        folder,
        sessions,
        workspaces,
        checks: checkRunner(folder),
        exchange: new Exchange(join(folder, "transfers")),
        repository: repository ?? null,
        facts: {
          name: hostname(),
          labels,
          capacity,
          version: readVersion(),
          facts: {
            agents: installed(sessions, folder),
            sandbox: (await sessions.findSandboxProblem?.()) === null,
            memory,
            cpus: availableParallelism(),
          },
        },
        memoryRoom: () => Math.floor(process.availableMemory() / MEMORY_PER_SESSION),
        world: realWorld,
        graceMs,
        drain,
        onJoined,
        report,
      });
    } finally {
      await workspaces.close();
      lock.release();
    }
  } finally {
    await database.close();
  }
}

/** Transcripts stay in the database, and prompts contain the secrets that users wrote. */
const withMaskedPrompts = (sessions: SessionHost, mask: <T>(value: T) => T): SessionHost => ({
  ...sessions,
  async transcript(...args) {
    const entries = await sessions.transcript(...args);
    return entries.map((entry) => (entry.type === "prompt" ? mask(entry) : entry));
  },
});

function installed(sessions: SessionHost, cwd: string): string[] {
  return BUILT_IN_AGENTS.filter((agent) => {
    try {
      sessions.check(agent, cwd);
      return true;
    } catch {
      return false;
    }
  });
}
