// `openHeldStore` opens the log in a database. The folder is locked first: opening the log fences an earlier process of
// the same folder.
import { join } from "node:path";
import { openDataFolder } from "./data-folder.ts";
import { Fleet } from "../fleet/fleet.ts";
import { loadPgBoss } from "../fleet/job-queue.ts";
import { identify } from "../session/process.ts";
import { lockFolder, type FolderLock } from "../store/folder-lock.ts";
import { openDatabase } from "../store/postgres/database.ts";
import { openPostgresStore, type PostgresStore } from "../store/postgres/postgres-store.ts";
import { realWorld } from "../world.ts";

export interface HeldStore {
  lock: FolderLock;
  store: PostgresStore;
  fleet: Fleet;
}

export interface FleetSettings {
  /** How long a host may be silent before its work is given to another. Default: `LEASE_MS`. */
  leaseMs?: number | undefined;
  /** Whether the server runs sessions itself while hosts are ready. */
  alsoWork?: boolean | undefined;
}

const LEASE_MS = 30_000;

/** `openEngine` closes the store and the fleet, and releases the lock. */
export async function openHeldStore(folder: string, url: string, settings: FleetSettings = {}): Promise<HeldStore> {
  const dataDir = openDataFolder(folder);
  const lock = lockFolder(dataDir, identify(process.pid)!);
  // The fleet loads pg-boss and reports if it is missing. Meanwhile the store waits for the database.
  loadPgBoss().catch(() => {});
  try {
    const store = await openPostgresStore({ url, replica: join(dataDir, "replica.db") });
    try {
      return { lock, store, fleet: await openFleet(url, store, settings) };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openFleet(url: string, store: PostgresStore, settings: FleetSettings): Promise<Fleet> {
  const { leaseMs = LEASE_MS, alsoWork = false } = settings;
  // A pool of its own: an append may wait for the fleet while it holds a connection of the store.
  const database = await openDatabase({ url, name: "tutti hosts" });
  const fleet = await Fleet.open({ database, world: realWorld, server: store.server, leaseMs, alsoWork });
  store.extendAppends((events) => fleet.extend(events));
  return fleet;
}
