import { randomUUID } from "node:crypto";
import type { JobQueue } from "../../src/fleet/job-queue.ts";
import type { Database } from "../../src/store/postgres/database.ts";

/** Attempts that wait for a host, although none is ready. */
export async function placeAttempts(database: Database, jobs: JobQueue, keys: readonly string[]): Promise<void> {
  const queue = await jobs.queueFor({});
  const placed = keys.map((key) => ({ id: randomUUID(), data: { key } }));
  await database.transaction("place attempts", async (client) => {
    for (const { id, data } of placed)
      await client.query(
        "INSERT INTO tutti_hosts.attempt (key, run, session, queue, job, state) VALUES ($1, 'run', $1, $2, $3, 'waiting')",
        [data.key, queue, id],
      );
    await client.query("SELECT tutti_hosts.insert_jobs($1, $2)", [queue, JSON.stringify(placed)]);
  });
}
