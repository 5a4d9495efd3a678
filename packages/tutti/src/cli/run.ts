// `tutti run`: create, start and follow one run in this terminal, without a server.
import { resolve } from "node:path";
import { follow } from "./follow.ts";
import { createTrusted } from "./create-trusted.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import { TuttiError } from "../schema/error.ts";

export interface RunFlags {
  template?: string;
  cwd?: string;
  agent?: string;
  maxUsd?: string;
  trust?: string;
  agentEnv: string[];
  var: string[];
  maxWorkers?: string;
  yes?: boolean;
  allowDegraded?: boolean;
}

export async function run(output: Output, request: string, flags: RunFlags): Promise<number> {
  const customVariables = readPairs("--var", flags.var);
  const agentEnv = readPairs("--agent-env", flags.agentEnv);
  const config = flags.maxWorkers === undefined ? {} : { maxWorkers: readWorkers(flags.maxWorkers) };
  return withEngine(output, agentEnv, async (engine, signal, { trusted }) => {
    const cwd = resolve(flags.cwd ?? ".");
    const { id } = await createTrusted(output, engine, trusted, signal, {
      templateId: flags.template ?? ((flags.agent ?? "local") === "local" ? "documentation" : "_default"),
      cwd,
      message: request,
      agent: flags.agent === undefined ? undefined : fromHere(flags.agent),
      budget: flags.maxUsd === undefined ? {} : { usd: readDollars(flags.maxUsd) },
      trust: flags.trust,
      customVariables,
      config,
    });
    return follow({
      engine,
      output,
      id,
      signal,
      yes: flags.yes ?? false,
      allowDegraded: flags.allowDegraded ?? false,
      start: true,
    });
  });
}

/** A scenario's file is named from where the person stands, not from where the agent will work. */
const fromHere = (agent: string): string =>
  agent.startsWith("script:") ? `script:${resolve(agent.slice("script:".length))}` : agent;

function readDollars(text: string): number {
  const dollars = Number(text);
  if (dollars > 0 && Number.isFinite(dollars)) return dollars;
  throw new TuttiError("usage", `--max-usd takes an amount above 0, not ${text}`);
}

function readWorkers(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 20) return count;
  throw new TuttiError("usage", `--max-workers takes a number from 1 to 20, not ${text}`);
}
