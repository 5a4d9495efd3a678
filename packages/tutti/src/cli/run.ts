// `tutti run`: create, start and follow one run in this terminal.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createTrusted } from "./create-trusted.ts";
import { follow } from "./follow.ts";
import { readConfig } from "../main/settings.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import type { NewRun } from "./runs.ts";
import { steer } from "./steer.ts";
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
  detach?: boolean;
  allowDegraded?: boolean;
}

export async function run(output: Output, message: string, flags: RunFlags): Promise<number> {
  const request = readRequest(output, message, flags);
  return steer(output, flags.agentEnv, async (runs, signal) => {
    if (flags.detach && !runs.outlives) {
      throw new TuttiError(
        "server_unreachable",
        "--detach leaves the run to a server, and none works on this data folder: start one with tutti serve",
      );
    }
    const id = await createTrusted(output, runs, signal, request);
    const { yes = false, allowDegraded = false } = flags;
    if (!flags.detach) return follow({ runs, output, id, signal, yes, allowDegraded, start: true });
    await runs.start(id);
    const { status } = await runs.run(id);
    output.value({ id, status });
    output.result(id);
    output.line(`it goes on at the server; look at it with: tutti attach ${id}`);
    return 0;
  });
}

function readRequest(output: Output, message: string, flags: RunFlags): NewRun {
  const cwd = resolve(flags.cwd ?? ".");
  // The configuration of a server's machine is the server's to read.
  const config = output.url === undefined ? readConfig(output.dataDir, rootOf(cwd)) : null;
  const named = flags.agent === undefined ? undefined : fromHere(flags.agent);
  const ofProject = config?.agentsOfProject ?? {};
  const agent = named !== undefined && Object.hasOwn(ofProject, named) ? ofProject[named]!.agent : named;
  const works = agent ?? config?.agent ?? "local";
  return {
    templateId: flags.template ?? config?.template ?? (works === "local" ? "documentation" : "_default"),
    cwd,
    message,
    agent,
    budget: flags.maxUsd === undefined ? {} : { usd: readDollars(flags.maxUsd) },
    trust: flags.trust,
    customVariables: readPairs("--var", flags.var),
    config: {
      ...(flags.maxWorkers === undefined ? {} : { maxWorkers: readWorkers(flags.maxWorkers) }),
      // Nobody will be there to say yes to the plan.
      ...(flags.detach && flags.yes ? { autoSpawn: true } : {}),
    },
  };
}

/** The repository that a folder is in; the folder itself if it is in none, which is told later. */
function rootOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
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
