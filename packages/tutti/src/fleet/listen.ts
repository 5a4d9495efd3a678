import type { Database } from "../store/postgres/database.ts";
import type { World } from "../world.ts";

const PAUSE_MS = 300;

/**
 * Calls `channels[name]` with the payload of each notification until `signal` is aborted. A notification during a lost
 * connection is missed, so subscribers also poll.
 */
export async function listen(
  database: Database,
  channels: Readonly<Record<string, (payload: string) => void>>,
  { world, signal }: { world: World; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const client = await database.connect();
      const lost = Promise.withResolvers<void>();
      const end = () => lost.resolve();
      client.on("end", end).on("error", end);
      client.on("notification", ({ channel, payload = "" }) => channels[channel]?.(payload));
      signal.addEventListener("abort", end, { once: true });
      // The listener is not called for an abort during `connect`.
      if (signal.aborted) end();
      try {
        for (const channel of Object.keys(channels)) await client.query(`LISTEN "${channel}"`);
        await lost.promise;
      } finally {
        signal.removeEventListener("abort", end);
        await client.end().catch(() => {});
      }
    } catch {
      // The database is away; connect again after `PAUSE_MS`.
    }
    await world.sleep(PAUSE_MS, signal);
  }
}
