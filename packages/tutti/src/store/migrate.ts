// Migrates a data folder to the current format. `STEPS` are only ever appended. A folder of a newer version is
// rejected.
import type { DatabaseSync } from "node:sqlite";
import { events } from "./migrations/001-events.ts";
import { versions } from "./migrations/002-versions.ts";
import { snapshots } from "./migrations/003-snapshots.ts";
import { TuttiError } from "../schema/error.ts";
import { EVENT_VERSION } from "../schema/upcast.ts";

const STEPS: readonly string[] = [events, versions, snapshots];
export const FORMAT = STEPS.length;
/** `FIRST_WITH_VERSIONS` is the first format with events that record the version that wrote them. */
const FIRST_WITH_VERSIONS = 2;

/** `checkFormat` throws if a newer version has written to `file`. */
export function checkFormat(db: DatabaseSync, file: string): number {
  const format = db.prepare("PRAGMA user_version").get()!["user_version"] as number;
  if (format > FORMAT) throw newer(file, `it has format ${format}, this version reads up to ${FORMAT}`);
  if (format < FIRST_WITH_VERSIONS) return format;
  // Every writer calls `checkFormat` first, so no event has a higher version than the last one.
  const last = db.prepare("SELECT version FROM events ORDER BY seq DESC LIMIT 1").get();
  const version = (last?.["version"] as number | undefined) ?? 1;
  if (version > EVENT_VERSION)
    throw newer(file, `it has events of version ${version}, this version reads up to ${EVENT_VERSION}`);
  return format;
}

const newer = (file: string, detail: string): TuttiError =>
  new TuttiError(
    "data_folder_newer",
    `The file "${file}" was written by a newer version of Tutti (${detail}). Install that version or use another --data-dir.`,
  );

export function migrate(db: DatabaseSync, file: string): void {
  // A file of the current format is left alone, which saves a synced commit at every start.
  if (checkFormat(db, file) === FORMAT) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of STEPS.slice(checkFormat(db, file))) db.exec(step);
    db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    // SQLite has rolled back by itself if the disk is full, so `isTransaction` is false then.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
