// `tutti confirm`: the person's yes to a plan.
import type { AttachFlags } from "./attach.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";

export async function confirm(output: Output, id: string, flags: AttachFlags): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    await engine.takeUp(id);
    await engine.confirm(id);
    return follow({ engine, output, id, signal, yes: true, allowDegraded: flags.allowDegraded ?? false, start: false });
  });
}
