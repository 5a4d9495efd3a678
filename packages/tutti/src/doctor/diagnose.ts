// Runs all checks of `tutti doctor`. They only read: they create no files or folders, call no model and use no network.
import { checkAgents } from "./check-agents.ts";
import type { Check } from "./check.ts";
import { checkDataFolder } from "./check-data-folder.ts";
import { checkNotifications } from "./check-notifications.ts";
import { checkGit, checkNode, checkPostgres, checkSandbox, checkSqlite } from "./check-system.ts";

interface Diagnosis {
  /** Whether Tutti can work: no `essential` check is `missing`. */
  ok: boolean;
  checks: Check[];
}

interface DiagnoseOptions {
  dataDir: string;
  version: string;
  /** `timeoutMs` is the limit for each program to print its version. */
  timeoutMs?: number;
}

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
