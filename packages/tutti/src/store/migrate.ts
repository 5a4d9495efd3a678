// Brings a data folder to the shape this version knows. Steps are only ever added; a folder written by a newer version
// is refused rather than guessed at.
import type { DatabaseSync } from "node:sqlite";
import { events } from "./migrations/001-events.ts";
import { versions } from "./migrations/002-versions.ts";
import { snapshots } from "./migrations/003-snapshots.ts";
import { TuttiError } from "../schema/error.ts";

const STEPS: readonly string[] = [events, versions, snapshots];
/** The newest format that this version knows. */
export const FORMAT = STEPS.length;

export function migrate(db: DatabaseSync, file: string): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const at = db.prepare("PRAGMA user_version").get()!["user_version"] as number;
    if (at > STEPS.length) {
      throw new TuttiError(
        "data_folder_newer",
        `${file} was written by a newer version of Tutti (format ${at}, this one knows ${STEPS.length})`,
      );
    }
    for (const step of STEPS.slice(at)) db.exec(step);
    db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
