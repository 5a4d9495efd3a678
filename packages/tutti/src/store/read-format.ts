import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Creates no files beside `file`, which must exist. Returns 0 if the writer died before it created the tables. */
export function readFormat(file: string): number {
  const address = pathToFileURL(file);
  // An open store, or one with a killed writer, has a -wal and a -shm file; `readonly_shm` uses both without writing.
  // Otherwise the file is complete, and `immutable` keeps SQLite from creating the two.
  const hasLog = existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
  address.searchParams.set(hasLog ? "readonly_shm" : "immutable", "1");
  const db = new DatabaseSync(address, { readOnly: true });
  try {
    return db.prepare("PRAGMA user_version").get()!["user_version"] as number;
  } finally {
    db.close();
  }
}
