import { setTimeout as sleep } from "node:timers/promises";
import { TuttiError } from "../../schema/error.ts";
import { monotonicMs } from "../../world.ts";

/** Interval at which `untilFree` looks for the socket or the lock of a process that starts or ends. */
const POLL_MS = 50;

/**
 * Repeats `attempt` for `waitMs`, or until `signal` aborts, while it throws `data_folder_in_use`: the other process may
 * start or end just now.
 */
export async function untilFree<T>(waitMs: number, attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = monotonicMs() + waitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isInUse = error instanceof TuttiError && error.code === "data_folder_in_use";
      if (!isInUse || monotonicMs() > deadline || signal?.aborted) throw error;
    }
    await sleep(POLL_MS);
  }
}
