// `migrateDatabase` migrates to the current format. `STEPS` are only ever appended. A database of a newer version is
// rejected.
import { log } from "./migrations/001-log.ts";
import { requestAge } from "./migrations/002-request-age.ts";
import { lockLog } from "./migrations/003-lock-log.ts";
import { appendEvents } from "./migrations/004-append-events.ts";
import { durableAppend } from "./migrations/005-durable-append.ts";
import type { Database } from "./database.ts";
import { databaseError } from "./database-error.ts";
import { TuttiError } from "../../schema/error.ts";

const STEPS: readonly string[] = [log, requestAge, lockLog, appendEvents, durableAppend];
/** Any constant: `pg_advisory_xact_lock` lets servers that start together migrate one after the other. */
const LOCK = 7_461_905;

const UNDEFINED_TABLE = "42P01";

export async function migrateDatabase(database: Database): Promise<void> {
  // Most starts find the current format, and need no transaction.
  const found = await database.pool
    .query<{ version: number }>("SELECT version FROM tutti.format")
    .catch((error: { code?: string }) => {
      if (error.code === UNDEFINED_TABLE) return { rows: [] };
      throw databaseError(error, database.place, "read the format");
    });
  if (found.rows[0]?.version === STEPS.length) return;
  await database.transaction("create the tables", async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    await client.query("CREATE SCHEMA IF NOT EXISTS tutti");
    await client.query("CREATE TABLE IF NOT EXISTS tutti.format (version integer NOT NULL)");
    const { rows } = await client.query<{ version: number }>("SELECT version FROM tutti.format");
    const version = rows[0]?.version ?? 0;
    if (version > STEPS.length)
      throw new TuttiError(
        "data_folder_newer",
        `The database ${database.place} was written by a newer version of Tutti (it has format ${version}, this version reads up to ${STEPS.length}). Install that version or use another database.`,
      );
    for (const step of STEPS.slice(version)) await client.query(step);
    await client.query("DELETE FROM tutti.format");
    await client.query("INSERT INTO tutti.format VALUES ($1)", [STEPS.length]);
  });
}
