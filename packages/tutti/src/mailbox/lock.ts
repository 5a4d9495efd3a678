// `withLock` is a lock between processes: an open exclusive SQLite transaction on a separate file. The operating system
// releases it when the process ends, however it ends, so there are no stale locks and no process ids to check. A
// waiting process polls, so no wake-up can be lost.
import { DatabaseSync } from "node:sqlite";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";
import { asDiskError } from "../durable-file.ts";

/** Writers hold the lock for milliseconds. A process that holds it for `PATIENCE_MS` was suspended. */
const PATIENCE_MS = 30_000;
const LONGEST_PAUSE_MS = 8;

export async function withLock<T>(file: string, world: World, work: () => T | Promise<T>): Promise<T> {
  const release = await acquireLock(file, world, PATIENCE_MS);
  try {
    return await work();
  } finally {
    release!();
  }
}

/** Returns a function that releases the lock, or null if `signal` aborted the wait. Throws after `patienceMs`. */
export async function acquireLock(
  file: string,
  world: World,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<(() => void) | null> {
  const since = world.mono();
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs + 1, LONGEST_PAUSE_MS)) {
    if (signal?.aborted) return null;
    const release = tryLock(file);
    if (release) return release;
    if (world.mono() - since > patienceMs)
      throw new TuttiError(
        "storage_failed",
        `Another process has held the lock ${file} for ${Math.round(patienceMs / 1000)} s. End it or try again.`,
      );
    await world.sleep(pauseMs, signal);
  }
}

/** Returns null if another process, or another part of this one, holds the lock. */
function tryLock(file: string): (() => void) | null {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
    const held = db;
    return () => held.close();
  } catch (error) {
    db?.close();
    if (/locked|busy/i.test(String(error))) return null;
    throw asDiskError(error, `The lock ${file} cannot be acquired`);
  }
}
