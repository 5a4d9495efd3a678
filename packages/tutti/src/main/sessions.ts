// `openHost` opens the session host of a data folder, and `maskOf` masks the secrets of its environment.
import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { readToken } from "./data-folder.ts";
import { readUserConfig } from "../config/config.ts";
import { withAgents } from "../config/configured-agents.ts";
import type { CommandRunner } from "../engine/hooks.ts";
import type { CheckRunner } from "../engine/sessions/run-checks.ts";
import { createSecrets, type Secrets } from "../session/secrets/find-secrets.ts";
import { createKeeperHost } from "../session/keeper/keeper-host.ts";
import { SpareKeeper } from "../session/keeper/spare-keeper.ts";
import { WarmKeeper } from "../session/keeper/warm-keeper.ts";
import { maskValue } from "../session/secrets/mask.ts";
import { detectChecks } from "../session/detect-checks.ts";
import { endLeftCommands, runCommand, runShell } from "../session/run-command.ts";
import { secretValues } from "../session/secrets/secrets.ts";
import { locateProgram } from "../session/probe-program.ts";
import { planSandbox } from "../session/sandbox/plan-sandbox.ts";
import { makeScratch, removeScratch } from "../session/sandbox/scratch-folder.ts";
import type { SessionHost } from "../session/session.ts";
import { TuttiError } from "../schema/error.ts";
import { SANDBOX_MODES, type SandboxMode, type SandboxPaths } from "../schema/agent/sandbox.ts";
import { realWorld } from "../world.ts";

/** Bytes that a coding agent needs, as measured with real ones. */
export const MEMORY_PER_SESSION = 300 * 1024 * 1024;

export interface HostOptions {
  agentEnv?: Record<string, string>;
  /** Server token from the command line; default: that of `readToken`. Sessions must not show it. */
  token?: string;
  /** How long a keeper waits for an engine before it ends its agent. */
  orphanAfterMs?: number;
  /** The mode of new runs that name none. Default: `TUTTI_SANDBOX`, else the configuration, else `auto`. */
  sandbox?: SandboxMode;
  /** A file that replaces every agent, for rehearsals (`withScenario`). */
  scenario?: string;
  /** Whether a keeper waits for the next session while one is live. Default: true. */
  spareKeeper?: boolean;
  /** Gets the host that runs agents under keepers, `createKeeperHost`. */
  replaceHost?: (kept: SessionHost) => SessionHost;
}

export function openHost(dataDir: string, options: HostOptions = {}): SessionHost {
  const { replaceHost = (kept) => kept, spareKeeper = true } = options;
  const folder = join(dataDir, "sessions");
  // One for all hosts of this engine.
  const spare = spareKeeper ? { spare: new SpareKeeper(folder), warm: new WarmKeeper(realWorld) } : {};
  const hostWith = (variables: readonly string[]): SessionHost =>
    replaceHost(
      createKeeperHost({
        folder,
        ...spare,
        engineFile: join(dataDir, "engine.json"),
        world: realWorld,
        agentEnv: { ...fromEnvironment(variables), ...options.agentEnv },
        token: () => options.token ?? readToken(dataDir),
        maxOutputBytes: () => maxOutputBytes(dataDir),
        access: () => ownAccess(dataDir),
        requiresSandbox: options.sandbox === "required",
        ...(options.orphanAfterMs === undefined ? {} : { orphanAfterMs: options.orphanAfterMs }),
      }),
    );
  const host = withAgents(hostWith([]), () => readUserConfig(dataDir).agents, hostWith);
  return options.scenario === undefined ? host : withScenario(host, options.scenario);
}

function maxOutputBytes(dataDir: string): number | undefined {
  const megabytes = readUserConfig(dataDir).sessions?.maxOutputMb;
  return megabytes === undefined ? undefined : megabytes * 1_000_000;
}

function ownAccess(dataDir: string): SandboxPaths {
  const { readable = [], writable = [] } = readUserConfig(dataDir).sessions ?? {};
  const inHome = (path: string): string => path.replace(/^~/, homedir());
  return { readable: readable.map(inHome), writable: writable.map(inHome) };
}

/** A rehearsal (`scenario`) starts no program but Tutti's own, so it needs no sandbox. */
export function sandboxMode(dataDir: string, { sandbox, scenario }: HostOptions): SandboxMode {
  if (scenario !== undefined) return "off";
  return sandbox ?? readSandboxMode(process.env) ?? readUserConfig(dataDir).sandbox ?? "auto";
}

function readSandboxMode({ TUTTI_SANDBOX: value }: NodeJS.ProcessEnv): SandboxMode | undefined {
  if (!value) return undefined;
  const mode = SANDBOX_MODES.find((each) => each === value);
  if (mode) return mode;
  throw new TuttiError("usage", `TUTTI_SANDBOX is "${value}". Set it to auto, off or required.`);
}

function withScenario(host: SessionHost, scenarioFile: string): SessionHost {
  const agent = `script:${scenarioFile}`;
  return {
    ...host,
    open: (spec) => host.open({ ...spec, agent }),
    lacksTools: () => false,
    warm: (spec) => host.warm?.({ ...spec, agent }) ?? false,
    claim: async (spec, isCurrent) => (await host.claim?.({ ...spec, agent }, isCurrent)) ?? false,
    check: (_, cwd) => host.check(agent, cwd),
  };
}

function fromEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * Besides values of known shapes, secrets are those of the environment and of `agentEnv`, `others`, and the server's
 * token.
 */
export function secretsOf(
  dataDir: string,
  { token, agentEnv }: HostOptions = {},
  others: readonly string[] = [],
): () => Secrets {
  let secrets: Secrets | null = null;
  return () => {
    if (secrets) return secrets;
    // Created on first use: by then the data folder has a token.
    const serverToken = token ?? readToken(dataDir);
    const known = [...secretValues({ ...process.env, ...agentEnv }), ...others];
    return (secrets = createSecrets([...known, ...(serverToken === null ? [] : [serverToken])]));
  };
}

export function maskOf(...args: Parameters<typeof secretsOf>): <T>(value: T) => T {
  const secrets = secretsOf(...args);
  return (value) => maskValue(secrets(), value);
}

const environmentOf = (runId: string): Record<string, string> => ({
  ...fromEnvironment(["PATH", "HOME", "LANG", "TZ", "TMPDIR"]),
  TUTTI_RUN_ID: runId,
});

export const runHook: CommandRunner = (command, { runId, ...options }) =>
  runCommand(command, { ...options, env: environmentOf(runId) });

/** Also ends what the checks of a killed engine left. The caller must hold the lock of `dataDir`. */
export function checkRunner(dataDir: string): CheckRunner {
  const markFolder = join(dataDir, "checks");
  const ended = endLeftCommands(markFolder);
  return { detect: detectChecks, run: (...args) => ended.then(() => runCheck(dataDir, markFolder, ...args)) };
}

async function runCheck(
  dataDir: string,
  markFolder: string,
  ...[command, { runId, sandbox, ...options }]: Parameters<CheckRunner["run"]>
): ReturnType<CheckRunner["run"]> {
  const env = environmentOf(runId);
  if (!sandbox) return runShell(command, { ...options, env, markFolder });
  const folder = mkdtempSync(join(tmpdir(), "tutti-check-"));
  const plan = planSandbox({
    program: locateProgram("bwrap") ?? "bwrap",
    network: sandbox.network,
    sessionFolder: folder,
    dataFolder: dataDir,
    command: ["sh"],
    env,
    paths: [sandbox.access, ownAccess(dataDir)],
  });
  makeScratch(plan);
  try {
    return await runShell(command, { ...options, env, markFolder, sandbox: plan });
  } finally {
    await removeScratch(folder).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
