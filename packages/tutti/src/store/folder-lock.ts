// `lockFolder` allows one engine per data folder. The lock is an open SQLite transaction on its own file: the kernel
// releases it when the process ends for any reason, so no stale lock is left and acquiring it has no race.
//
// engine.json beside the lock names the owner. Keepers read it to check whether the engine is alive, and the error for
// a second engine quotes it. It is not a lock itself.
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TuttiError } from "../schema/error.ts";

export interface FolderLock {
  release(): void;
}

/** `findEngine` of another process may hold the lock for a moment. */
const LOOK_MS = 250;
/** A stopped process would hold it for ever. */
const MOST_LOOKS = 40;

export function lockFolder(folder: string, owner: object): FolderLock {
  const lock = join(folder, "engine.lock");
  // Another user who can read the file could hold a shared lock on it. SQLite gives its journal the same permissions.
  closeSync(openSync(lock, "a", 0o600));
  let db = openExclusive(lock);
  // Without an engine, only a look of another process is in the way.
  for (let looks = 1; db === null && looks < MOST_LOOKS && findEngine(folder) === null; looks++)
    db = openExclusive(lock);
  if (db === null) {
    const pid = ownerOf(folder);
    throw new TuttiError(
      "data_folder_in_use",
      `Another process uses the data folder "${folder}"${pid === null ? "" : ` (process ${pid})`}. Wait until it ends, or end it${pid === null ? "" : ` with "kill ${pid}"`}, and repeat the command; or use another --data-dir.`,
    );
  }
  const file = join(folder, "engine.json");
  writeFileSync(`${file}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { release: () => db.close() };
}

/** Null if another process holds the lock. */
function openExclusive(lock: string): DatabaseSync | null {
  const db = new DatabaseSync(lock, { timeout: LOOK_MS });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
    return db;
  } catch (error) {
    db.close();
    if (!isHeld(error)) throw error;
    return null;
  }
}

/** Returns the engine that holds the lock, or null. Unlike `lockFolder`, writes nothing and acquires nothing. */
export function findEngine(folder: string): { pid: number | null; since: number } | null {
  const file = join(folder, "engine.lock");
  if (!existsSync(file)) return null;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return null;
  } catch (error) {
    if (!isHeld(error)) throw error;
    return { pid: ownerOf(folder), since: acquiredAt(folder) };
  } finally {
    db.close();
  }
}

const isHeld = (error: unknown): boolean => /locked|busy/i.test(String(error));

function ownerOf(folder: string): number | null {
  try {
    return (JSON.parse(readFileSync(join(folder, "engine.json"), "utf8")) as { pid: number }).pid;
  } catch {
    return null;
  }
}

/** `acquiredAt` is 0 if the owner has not written engine.json yet. */
const acquiredAt = (folder: string): number =>
  statSync(join(folder, "engine.json"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
