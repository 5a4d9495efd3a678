import { findAddress } from "./find-address.ts";
import { withEngine } from "./local-engine.ts";
import { localRuns } from "./local-runs.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { readPairs } from "../input/pairs.ts";
import type { RunAccess } from "./runs.ts";
import { serverRuns } from "./server-runs.ts";
import { TuttiError } from "../../schema/error.ts";

/** Runs `work` on the server that `findAddress` finds, else on an engine in this process for the time of `work`. */
export async function withRuns(
  output: Output,
  agentEnv: readonly string[],
  work: (runs: RunAccess, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const env = readPairs("--agent-env", agentEnv);
  const address = await findAddress(output);
  if (!address) return withEngine(output, env, (local, signal) => work(localRuns(local), signal));
  if (agentEnv.length > 0) {
    throw new TuttiError(
      "usage",
      `The server at ${address.baseUrl} starts the agents. Give --agent-env to "tutti serve" instead.`,
    );
  }
  return untilInterrupted((signal) => work(serverRuns(address), signal));
}
