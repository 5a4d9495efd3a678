// Which format a store has, without touching it: a look must not leave files beside it.
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** The format of the store in a file that is there; 0 when its writer died before it was made. */
export function readFormat(file: string): number {
  const address = pathToFileURL(file);
  // A store that is open, or whose writer was killed, has a write-ahead log with an index, which only writers may write.
  // Otherwise the file alone is the store, and an ordinary reader would make both and leave them there.
  const hasLog = existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
  address.searchParams.set(hasLog ? "readonly_shm" : "immutable", "1");
  const db = new DatabaseSync(address, { readOnly: true });
  try {
    return db.prepare("PRAGMA user_version").get()!["user_version"] as number;
  } finally {
    db.close();
  }
}
