import { isConnectionLoss } from "../store/postgres/database-error.ts";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

const PAUSE_MS = 300;

const DEADLOCK = "40P01";

/** PostgreSQL rolls back one of two transactions that wait for each other. */
const isDeadlock = (error: unknown): boolean => {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code === DEADLOCK || cause?.code === DEADLOCK;
};

/** Repeats `work`, which must be repeatable, until the database can be reached or `signal` is aborted. */
export async function retryQuery<T>(work: () => Promise<T>, world: World, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLost = isConnectionLoss(error) || (error instanceof TuttiError && error.code === "database_unreachable");
      if (!(isLost || isDeadlock(error)) || signal.aborted) throw error;
      await world.sleep(PAUSE_MS, signal);
    }
  }
}
