// What is installed on this machine, what is missing, and what to do about it. It only looks: nothing is written and no
// folder is made, no model is called and nobody is asked over a network.
import { checkAgents } from "./check-agents.ts";
import type { Check } from "./check.ts";
import { checkDataFolder } from "./check-data-folder.ts";
import { checkNotifications } from "./check-notifications.ts";
import { checkGit, checkNode, checkPostgres, checkSandbox, checkSqlite } from "./check-system.ts";

export interface Diagnosis {
  /** Whether Tutti can work. Warnings, and agents that are not there, do not keep it from working. */
  ok: boolean;
  checks: Check[];
}

export interface DiagnoseOptions {
  dataDir: string;
  version: string;
  /** How long each program may take to say its version. */
  timeoutMs?: number;
}

/** Long enough for a slow program on a busy machine. */
const TIMEOUT_MS = 10_000;

export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const [git, agents, sandbox] = await Promise.all([
    checkGit(timeoutMs),
    checkAgents(timeoutMs),
    checkSandbox(timeoutMs),
  ]);
  const essential = [checkNode(options.version), git, ...checkDataFolder(options.dataDir)];
  return {
    ok: essential.every(({ status }) => status !== "missing"),
    checks: [
      ...essential,
      ...agents,
      sandbox,
      checkSqlite(),
      checkPostgres(),
      ...checkNotifications(options.dataDir, process.env),
    ],
  };
}
