// `tutti answer`: what an agent wanted to know.
import type { AttachFlags } from "./attach.ts";
import { follow } from "./follow.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import { TuttiError } from "../schema/error.ts";

export async function answer(output: Output, itemId: string, text: string, flags: AttachFlags): Promise<number> {
  return withEngine(output, readPairs("--agent-env", flags.agentEnv), async (engine, signal) => {
    const run = engine.list().find((each) => Object.hasOwn(each.inbox, itemId));
    if (!run) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
    if (run.inbox[itemId]!.kind === "data") await engine.supply(itemId, readJson(text));
    else await engine.answer(itemId, text);
    await engine.takeUp(run.id);
    return follow({
      engine,
      output,
      id: run.id,
      signal,
      yes: false,
      allowDegraded: flags.allowDegraded ?? false,
      start: false,
    });
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TuttiError("invalid_input", `what is wanted is data in JSON: ${(error as Error).message}`);
  }
}
