// `tutti retry`: try a task again that did not complete, and follow its run.
import type { AttachFlags } from "./attach.ts";
import { findRunId } from "./find-run.ts";
import { follow } from "./follow.ts";
import type { Output } from "./output.ts";
import { steer } from "./steer.ts";

export async function retry(output: Output, typed: string, taskId: string, flags: AttachFlags): Promise<number> {
  return steer(output, flags.agentEnv, async (runs, signal) => {
    const id = await findRunId(runs, typed);
    // Before the run is taken up: one that is over has nothing to take up until it is reopened.
    await runs.retry(id, taskId);
    await runs.takeUp(id);
    const { yes = false, allowDegraded = false } = flags;
    return follow({ runs, output, id, signal, yes, allowDegraded, start: false });
  });
}
