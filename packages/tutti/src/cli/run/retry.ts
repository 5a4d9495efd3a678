import type { AttachFlags } from "./attach.ts";
import { findRunId } from "../access/find-run.ts";
import { watch } from "./watch.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";

export async function retry(output: Output, idPrefix: string, taskId: string, flags: AttachFlags): Promise<number> {
  return withRuns(
    output,
    async (runs, signal) => {
      const id = await findRunId(runs, idPrefix);
      // `retry` reopens an ended run; before that, `takeUp` has nothing to act on.
      await runs.orders.retry(id, taskId);
      await runs.takeUp(id);
      const { yes = false, allowDegraded = false } = flags;
      return watch({ runs, output, id, signal, yes, allowDegraded, start: false });
    },
    flags.agentEnv,
  );
}
