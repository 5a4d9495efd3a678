import { findRunId } from "../access/find-run.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";

/**
 * `takeUp` adopts sessions that an earlier engine left running, so that they end in order with this command.
 * After a resume their tasks start a new attempt.
 */
export async function pause(output: Output, idPrefix: string): Promise<number> {
  return withRuns(output, async (runs) => {
    const id = await findRunId(runs, idPrefix);
    await runs.orders.pause(id);
    await runs.takeUp(id);
    const { status, pausedFrom } = await runs.run(id);
    output.value({ id, status, pausedFrom: pausedFrom?.status });
    output.result(`${id} is paused. Resume it with: tutti resume ${id}`);
    return 0;
  });
}
