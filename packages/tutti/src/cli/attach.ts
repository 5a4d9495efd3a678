// `tutti attach`: go on with a run in this terminal.
import { findRunId } from "./find-run.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";

export interface AttachFlags {
  yes?: boolean;
  agentEnv: string[];
  allowDegraded?: boolean;
}

export async function attach(output: Output, typed: string, flags: AttachFlags): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    const id = findRunId(engine, typed);
    const { status } = await engine.takeUp(id);
    return follow({
      engine,
      output,
      id,
      signal,
      yes: flags.yes ?? false,
      allowDegraded: flags.allowDegraded ?? false,
      start: status === "created",
    });
  });
}
