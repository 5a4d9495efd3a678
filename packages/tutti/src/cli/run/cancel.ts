import { findRunId } from "../access/find-run.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";

export async function cancel(output: Output, idPrefix: string): Promise<number> {
  return withRuns(output, async (runs) => {
    const id = await findRunId(runs, idPrefix);
    await runs.orders.cancel(id);
    await runs.takeUp(id);
    const live = await runs.watch(id);
    try {
      await live.settled();
    } finally {
      live.close();
    }
    output.value(await runs.result(id));
    output.result(`${id} is cancelled`);
    return 0;
  });
}
