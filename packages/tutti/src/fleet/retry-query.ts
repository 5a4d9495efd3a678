import { isConnectionLoss } from "../store/postgres/database-error.ts";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

const PAUSE_MS = 300;

/** Repeats `work`, which must be repeatable, until the database can be reached or `signal` is aborted. */
export async function retryQuery<T>(work: () => Promise<T>, world: World, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLost = isConnectionLoss(error) || (error instanceof TuttiError && error.code === "database_unreachable");
      if (!isLost || signal.aborted) throw error;
      await world.sleep(PAUSE_MS, signal);
    }
  }
}
