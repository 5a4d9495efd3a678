// One writer at a time. The lock is an open SQLite transaction on a file of its own: the kernel gives it free when the
// process ends, however it ends, so there is no stale lock to take over and nothing to guess about a process id. Who has
// to wait asks again after a short time, so there is no wake-up that could be lost either.
import { DatabaseSync } from "node:sqlite";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";
import { asDiskError } from "../durable-file.ts";

/** Writers hold the lock for milliseconds; whoever holds it longer than this has been stopped by somebody. */
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

/** Returns what gives the lock free again; null if the signal fired while it waited. */
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
      throw new TuttiError("storage_failed", `another process has held ${file} for ${Math.round(patienceMs / 1000)} s`);
    await world.sleep(pauseMs, signal);
  }
}

/** Null if another process, or another part of this one, has it. */
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
    throw asDiskError(error, `the lock ${file} cannot be taken`);
  }
}
