// `tutti retry`: try a task again that did not complete, and follow its run.
import type { AttachFlags } from "./attach.ts";
import { findRunId } from "./find-run.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";

export async function retry(output: Output, typed: string, taskId: string, flags: AttachFlags): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    const id = findRunId(engine, typed);
    // Before the run is taken up: one that is over has nothing to take up until it is reopened.
    await engine.retry(id, taskId);
    await engine.takeUp(id);
    const { yes = false, allowDegraded = false } = flags;
    return follow({ engine, output, id, signal, yes, allowDegraded, start: false });
  });
}
