// `tutti cancel`: the end of a run by the person's will.
import { findRunId } from "./find-run.ts";
import { withEngine } from "./local-engine.ts";
import type { Output } from "./output.ts";

export async function cancel(output: Output, typed: string): Promise<number> {
  return withEngine(output, {}, async (engine) => {
    const id = findRunId(engine, typed);
    await engine.cancel(id);
    await engine.takeUp(id);
    await engine.settled(id);
    output.value(await engine.result(id));
    output.result(`${id} is cancelled`);
    return 0;
  });
}
