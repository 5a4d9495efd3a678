import { resolve } from "node:path";
import { createTrusted } from "./create-trusted.ts";
import { watch } from "./watch.ts";
import { readConfig } from "../../main/settings.ts";
import type { Output } from "../terminal/output.ts";
import { enclosingProject } from "../input/enclosing-project.ts";
import { readPairs } from "../input/pairs.ts";
import { readNumber } from "../input/read-number.ts";
import { readSandbox } from "../input/read-sandbox.ts";
import type { RunAccess, RunRequest } from "../access/runs.ts";
import { findRunId } from "../access/find-run.ts";
import { readRuns, withRuns } from "../access/open-runs.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";

interface RunFlags {
  template?: string;
  cwd?: string;
  after?: string;
  scope?: string[];
  agent?: string;
  role: string[];
  maxUsd?: string;
  trust?: string;
  agentEnv: string[];
  leaveRunning?: boolean;
  var: string[];
  maxWorkers?: string;
  yes?: boolean;
  detach?: boolean;
  allowDegraded?: boolean;
  sandbox?: string;
}

export async function run(output: Output, message: string, flags: RunFlags): Promise<number> {
  const earlier = flags.after === undefined ? null : await findEarlier(output, flags.after);
  const request = readRequest(output, message, flags, earlier);
  return withRuns(
    output,
    async (runs, signal) => {
      if (flags.detach && runs.home !== "server") {
        throw new TuttiError(
          "server_unreachable",
          '--detach needs a server, and none runs on this data folder. Start one with "tutti serve".',
        );
      }
      if (!flags.detach) return runHere(runs, output, signal, request, flags);
      const id = await createTrusted(output, runs, signal, request);
      await runs.order(id, "start");
      const { status } = await runs.run(id);
      output.value({ id, status });
      output.result(id);
      output.line(`The run continues on the server. Follow it with: tutti attach ${id}`);
      return 0;
    },
    flags,
  );
}

/** The keeper of the main session starts while the run is created, because both take long. */
async function runHere(
  runs: RunAccess,
  output: Output,
  signal: AbortSignal,
  request: RunRequest,
  { yes = false, allowDegraded = false }: RunFlags,
): Promise<number> {
  const release = runs.expectSession?.();
  try {
    const id = await createTrusted(output, runs, signal, request);
    if (release) void (await runs.watch(id)).until(({ main }) => main?.state === "running").then(release, () => {});
    return await watch({ runs, output, id, signal, yes, allowDegraded, start: true });
  } finally {
    release?.();
  }
}

async function findEarlier(output: Output, idPrefix: string): Promise<Run> {
  const runs = await readRuns(output);
  return runs.run(await findRunId(runs, idPrefix));
}

const ROLE_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** A run after an `earlier` one takes its folder, template and agent, unless a flag names another. */
export function readRequest(output: Output, message: string, flags: RunFlags, earlier: Run | null): RunRequest {
  const cwd = resolve(flags.cwd ?? earlier?.cwd ?? ".");
  // With `--url` the server applies the configuration of its own machine.
  const config = output.url === undefined ? readConfig(output.dataDir, enclosingProject(cwd)) : null;
  const projectAgents = config?.agentsOfProject ?? {};
  const agentOf = (name: string): string =>
    Object.hasOwn(projectAgents, name) ? projectAgents[name]!.agent : fromHere(name);
  const agent = flags.agent === undefined ? undefined : agentOf(flags.agent);
  const roles = Object.entries(readPairs("--role", flags.role, ROLE_NAME)).map(([name, each]) => [name, agentOf(each)]);
  const expectedAgent = agent ?? config?.agent ?? "local";
  return {
    templateId:
      flags.template ??
      earlier?.templateId ??
      config?.template ??
      (expectedAgent === "local" ? "documentation" : "_default"),
    cwd,
    message,
    agent: agent ?? earlier?.agent,
    roles: roles.length > 0 ? (Object.fromEntries(roles) as Record<string, string>) : undefined,
    after: earlier?.id,
    scope: flags.scope && flags.scope.length > 0 ? flags.scope : undefined,
    budget: flags.maxUsd === undefined ? {} : { usd: readDollars(flags.maxUsd) },
    trust: flags.trust,
    sandbox: readSandbox(flags.sandbox),
    customVariables: readPairs("--var", flags.var),
    config: {
      ...(flags.maxWorkers === undefined ? {} : { maxWorkers: readNumber("--max-workers", flags.maxWorkers, 1, 20) }),
      // The engine confirms the plan, so that it does so without this command as well.
      ...(flags.yes ? { autoSpawn: true } : {}),
    },
  };
}

/** Resolves the file of `script:FILE` against the current folder, because the agent runs in another one. */
const fromHere = (agent: string): string =>
  agent.startsWith("script:") ? `script:${resolve(agent.slice("script:".length))}` : agent;

function readDollars(text: string): number {
  const dollars = Number(text);
  if (dollars > 0 && Number.isFinite(dollars)) return dollars;
  throw new TuttiError("usage", `"${text}" is not a valid value of --max-usd. Give an amount above 0.`);
}
