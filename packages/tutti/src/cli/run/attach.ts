import { findRunId } from "../access/find-run.ts";
import { watch } from "./watch.ts";
import type { Output } from "../terminal/output.ts";
import { withRuns } from "../access/open-runs.ts";

export interface AttachFlags {
  yes?: boolean;
  agentEnv: string[];
  allowDegraded?: boolean;
}

export async function attach(output: Output, idPrefix: string, flags: AttachFlags): Promise<number> {
  return withRuns(
    output,
    async (runs, signal) => {
      const id = await findRunId(runs, idPrefix);
      await runs.takeUp(id);
      const { status } = await runs.run(id);
      const { yes = false, allowDegraded = false } = flags;
      return watch({ runs, output, id, signal, yes, allowDegraded, start: status === "created" });
    },
    flags.agentEnv,
  );
}
