// Brings a data folder to the shape this version knows. Steps are only ever added; a folder written by a newer version
// is refused rather than guessed at.
import type { DatabaseSync } from "node:sqlite";
import { events } from "./migrations/001-events.ts";
import { versions } from "./migrations/002-versions.ts";
import { snapshots } from "./migrations/003-snapshots.ts";
import { TuttiError } from "../schema/error.ts";
import { EVENT_VERSION } from "../schema/upcast.ts";

const STEPS: readonly string[] = [events, versions, snapshots];
/** The newest format that this version knows. */
export const FORMAT = STEPS.length;
/** The first one whose events say which version wrote them. */
const FIRST_WITH_VERSIONS = 2;

/** The format of a store. One that a newer version has written to is refused: what it says could only be guessed at. */
export function checkFormat(db: DatabaseSync, file: string): number {
  const at = db.prepare("PRAGMA user_version").get()!["user_version"] as number;
  if (at > FORMAT) throw newer(file, `format ${at}, this one knows ${FORMAT}`);
  if (at < FIRST_WITH_VERSIONS) return at;
  // Whoever writes has been here, so the last event tells for all of them.
  const last = db.prepare("SELECT version FROM events ORDER BY seq DESC LIMIT 1").get();
  const version = (last?.["version"] as number | undefined) ?? 1;
  if (version > EVENT_VERSION) throw newer(file, `events of version ${version}, this one knows ${EVENT_VERSION}`);
  return at;
}

const newer = (file: string, how: string): TuttiError =>
  new TuttiError("data_folder_newer", `${file} was written by a newer version of Tutti (${how})`);

export function migrate(db: DatabaseSync, file: string): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of STEPS.slice(checkFormat(db, file))) db.exec(step);
    db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
