// Opens the log in a database. The folder is locked first: opening the log fences an earlier process of the same folder.
import { join } from "node:path";
import { openDataFolder } from "./data-folder.ts";
import { identify } from "../session/process.ts";
import { lockFolder, type FolderLock } from "../store/folder-lock.ts";
import { openPostgresStore, type PostgresStore } from "../store/postgres/postgres-store.ts";

export interface HeldStore {
  lock: FolderLock;
  store: PostgresStore;
}

/** `openEngine` closes the store and releases the lock. */
export async function openHeldStore(folder: string, url: string): Promise<HeldStore> {
  const dataDir = openDataFolder(folder);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  try {
    return { lock, store: await openPostgresStore({ url, replica: join(dataDir, "replica.db") }) };
  } catch (error) {
    lock.release();
    throw error;
  }
}
