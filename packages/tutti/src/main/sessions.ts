// Who runs sessions on this machine for a data folder, and what of its surroundings they are given or must not show.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readUserConfig } from "../config/config.ts";
import { withAgents } from "../config/configured-agents.ts";
import type { CommandRunner } from "../engine/hooks.ts";
import { createSecrets, type Secrets } from "../session/find-secrets.ts";
import { createKeptHost } from "../session/kept-host.ts";
import { maskValue } from "../session/mask.ts";
import { runCommand } from "../session/run-command.ts";
import { playOnly } from "../session/scripted-host.ts";
import { secretValues } from "../session/secrets.ts";
import type { SessionHost } from "../session/session.ts";
import { realWorld } from "../world.ts";

export interface HostOptions {
  agentEnv?: Record<string, string>;
  /** The person's own token for the server; otherwise the one kept in the data folder. No agent is to show it. */
  token?: string;
  /** How long keepers wait for an engine before they end their agent. */
  orphanAfterMs?: number;
  /** A scenario file that every session plays, whatever agent was named: for rehearsals. */
  scenario?: string;
  /** Replaces the host that runs agents under keepers. */
  replaceHost?: (kept: SessionHost) => SessionHost;
}

export function openHost(dataDir: string, options: HostOptions = {}): SessionHost {
  const { replaceHost = (kept) => kept } = options;
  const hostWith = (variables: readonly string[]): SessionHost =>
    replaceHost(
      createKeptHost({
        folder: join(dataDir, "sessions"),
        engineFile: join(dataDir, "engine.json"),
        world: realWorld,
        agentEnv: { ...fromEnvironment(variables), ...options.agentEnv },
        token: () => options.token ?? keptToken(dataDir),
        ...(options.orphanAfterMs === undefined ? {} : { orphanAfterMs: options.orphanAfterMs }),
      }),
    );
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

export function keptToken(dataDir: string): string | null {
  const file = join(dataDir, "token");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

/** Takes out of any value what is secret here: of the environment, of agents, `others`, and the server's own token. */
export function maskOf(
  dataDir: string,
  { token, agentEnv }: HostOptions = {},
  others: readonly string[] = [],
): <T>(value: T) => T {
  let secrets: Secrets | null = null;
  return (value) => {
    // Made when it is first needed: by then the folder has a token.
    const own = token ?? keptToken(dataDir);
    const known = [...secretValues({ ...process.env, ...agentEnv }), ...others];
    secrets ??= createSecrets([...known, ...(own === null ? [] : [own])]);
    return maskValue(secrets, value);
  };
}

export const runHook: CommandRunner = (command, { runId, ...options }) => {
  const env = fromEnvironment(["PATH", "HOME", "LANG", "TZ", "TMPDIR"]);
  return runCommand(command, { ...options, env: { ...env, TUTTI_RUN_ID: runId } });
};
