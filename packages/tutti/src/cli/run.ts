// `tutti run`: create, start and follow one run in this terminal, without a server.
import { resolve } from "node:path";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import { TuttiError } from "../schema/error.ts";

export interface RunFlags {
  template?: string;
  cwd?: string;
  agent: string;
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
  return withEngine(output, agentEnv, async (engine, signal) => {
    const cwd = resolve(flags.cwd ?? ".");
    const { id } = await engine.create({
      templateId: flags.template ?? (flags.agent === "local" ? "documentation" : "_default"),
      cwd,
      message: request,
      agent: fromHere(flags.agent),
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

function readWorkers(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 20) return count;
  throw new TuttiError("usage", `--max-workers takes a number from 1 to 20, not ${text}`);
}
