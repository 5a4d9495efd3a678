import type { CheckedCommand } from "../../schema/outcome.ts";
import type { CheckCommand, CheckCommands } from "../../schema/template.ts";
import type { SessionSandbox } from "../../session/session.ts";
import type { World } from "../../world.ts";

export interface CheckRunner {
  /** Returns the `CheckCommand`s that the files in `cwd` suggest. */
  detect(cwd: string): Promise<CheckCommand[]>;
  /** Resolves early if `signal` is aborted; then the result means nothing. */
  run(
    command: string,
    options: {
      cwd: string;
      timeoutMs: number;
      runId: string;
      signal: AbortSignal;
      sandbox?: SessionSandbox | undefined;
    },
  ): Promise<Pick<CheckedCommand, "exitCode" | "output">>;
}

/** `NO_CHECKS` is for engines that start no programs. */
export const NO_CHECKS: CheckRunner = {
  detect: async () => [],
  run: async () => ({ exitCode: 126, output: "This engine runs no check commands." }),
};

const DEFAULT_TIMEOUT_MS = 600_000;

export async function commandsToCheck(
  commands: CheckCommands = [],
  cwd: string,
  checks: CheckRunner,
): Promise<CheckCommand[]> {
  return commands === "auto" ? checks.detect(cwd) : commands;
}

/** A command that fails does not stop the next ones. Returns null if `signal` is aborted. */
export async function runChecks(
  commands: readonly CheckCommand[],
  options: {
    checks: CheckRunner;
    world: World;
    cwd: string;
    runId: string;
    signal: AbortSignal;
    /** The files were made by agents, so the commands are no safer than these. */
    sandbox?: SessionSandbox | undefined;
  },
): Promise<CheckedCommand[] | null> {
  const { checks, world, cwd, runId, signal, sandbox } = options;
  const done: CheckedCommand[] = [];
  for (const { name, run, timeout = DEFAULT_TIMEOUT_MS } of commands) {
    const began = world.mono();
    const { exitCode, output } = await checks.run(run, { cwd, timeoutMs: timeout, runId, signal, sandbox });
    if (signal.aborted) return null;
    done.push({ name, run, exitCode, durationMs: Math.round(world.mono() - began), output });
  }
  return done;
}
