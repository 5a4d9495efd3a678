// `tutti start`: begin a run that was only created, and follow it.
import type { AttachFlags } from "./attach.ts";
import { findRunId } from "./find-run.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";

export async function start(output: Output, typed: string, flags: AttachFlags): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    const id = findRunId(engine, typed);
    await engine.start(id);
    await engine.takeUp(id);
    const { yes = false, allowDegraded = false } = flags;
    return follow({ engine, output, id, signal, yes, allowDegraded, start: false });
  });
}
