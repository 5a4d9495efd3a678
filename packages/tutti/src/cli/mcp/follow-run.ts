import { whenAborted } from "../terminal/interrupt.ts";
import type { LinkedRuns } from "./runs-link.ts";
import type { CallContext } from "../../mcp/mcp-tool.ts";
import { describeEvent, titleOf, withDetail } from "../../run/describe-event.ts";
import { waitsForUser } from "../../run/inbox/waits-for-user.ts";
import { isRunOver } from "../../schema/status.ts";

/** Resolves when the run has ended or `waitsForUser`, or when the call is cancelled. Reports events as `progress`. */
export async function followRun(
  { runs, ended }: Pick<LinkedRuns, "runs" | "ended">,
  id: string,
  { signal, progress }: CallContext,
): Promise<void> {
  const live = await runs.watch(id);
  const unsubscribe = live.subscribe((event, run) => {
    const described = describeEvent(event, run);
    // A client that disconnects in this moment also aborts `signal`.
    if (described) progress(withDetail(titleOf(described), described.detail)).catch(() => {});
  });
  try {
    const rests = live.until((run) => isRunOver(run.status) || waitsForUser(run, Date.now()));
    await Promise.race([rests, whenAborted(AbortSignal.any([signal, ended]))]);
    // `rests` may reject after `close`.
    rests.catch(() => {});
  } finally {
    unsubscribe();
    live.close();
  }
}
