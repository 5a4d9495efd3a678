// The statements of `PostgresStore` on the tables of the log.
//
// Invariants
// 1. Every write locks the row of `tutti.log` before it reads or changes anything else.
// 2. All writes of one function are in one transaction.
import type { Database } from "./database.ts";
import { STALE_APPEND } from "./migrations/004-append-events.ts";
import type { Removal } from "./replica.ts";
import { textArray, type PreparedQuery, type SqlClient } from "./sql-client.ts";
import type { EventRow } from "../sqlite.ts";
import { REMOVED } from "../store.ts";

/** A call of a function of the database, which is named with its schema. */
export interface SqlCall {
  name: string;
  values: unknown[];
}

export interface RunPosition {
  run: string;
  last: number;
  server: string | null;
}

interface LockedLog {
  seq: number;
  epoch: number | null;
  batch: number;
  removals: number;
  runs: Map<string, RunPosition>;
  /** The names of the runs that were read. */
  asked: ReadonlySet<string>;
}

interface LogLock {
  /** Starts the transaction that holds the lock, in the same request. */
  begin?: boolean;
  server?: string;
  runs?: readonly string[];
}

interface Append {
  server: string;
  batch: number;
  events: readonly EventRow[];
  /** The runs of `events`, after them. */
  runs: readonly RunPosition[];
  /** For the other servers; see `CHANNEL`. */
  notification: string;
}

/** An append to the log as this server knows it. It fails with an error that `isStale` if the log is different. */
interface KnownAppend extends Append {
  epoch: number;
  /** The last position of the log, and by run the position before `events`. */
  after: number;
  expected: readonly number[];
}

/** The channel of notifications about appends: the newest position and the number of removals. */
export const CHANNEL = "tutti_log";
/** The time of the database, in milliseconds. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** A server that was frozen for longer than `KEEP_SERVERS_MS` has to be restarted. */
const KEEP_SERVERS_MS = 7 * 86_400_000;
/** `KEEP_REQUESTS_MS` is longer than a sender waits. */
const KEEP_REQUESTS_MS = 3_600_000;
/** A server that is frozen or cut off in a transaction blocks the others for `HELD_LOCK_MS` at most. */
const HELD_LOCK_MS = 5000;
/** An acknowledged append is on disk with `synchronous_commit`, whatever the default of the database. */
const LOCK_SETTINGS = `SET LOCAL synchronous_commit = on; SET LOCAL idle_in_transaction_session_timeout = ${HELD_LOCK_MS}`;
const BEGIN_APPEND = `BEGIN; ${LOCK_SETTINGS}`;

const INSERT_EVENTS = `INSERT INTO tutti.events (seq, run, run_seq, type, data, at, version)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::integer[])`;
/** The number of values of `append_events`, which those of a `SqlCall` follow. */
const KNOWN_VALUES = 16;
/** The place of the `data` of the events among them. */
const DATA_VALUE = 14;

export async function beginEpoch(database: Database, server: string): Promise<number> {
  return database.transaction("open the log", async (client) => {
    const { rows } = await client.query<{ epoch: number }>("UPDATE tutti.log SET epoch = epoch + 1 RETURNING epoch");
    const { epoch } = rows[0]!;
    await client.query(
      `INSERT INTO tutti.servers (id, epoch, beat, batch) VALUES ($1, $2, ${NOW}, 0)
       ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, beat = excluded.beat, batch = 0`,
      [server, epoch],
    );
    await purge(client);
    return epoch;
  });
}

/** `purge` deletes servers that are gone and have no runs, and requests that no sender waits for. */
async function purge(client: SqlClient): Promise<void> {
  await client.query(
    `DELETE FROM tutti.servers s WHERE abs(beat) < ${NOW} - $1
        AND NOT EXISTS (SELECT 1 FROM tutti.runs WHERE server = s.id)`,
    [KEEP_SERVERS_MS],
  );
  await client.query("DELETE FROM tutti.requests WHERE made_at < now() - $1 * interval '1 ms'", [KEEP_REQUESTS_MS]);
}

export async function lockLog(
  client: SqlClient,
  { begin = false, server = "", runs = [] }: LogLock = {},
): Promise<LockedLog> {
  const [, { rows }] = await allSettled([
    client.query(begin ? BEGIN_APPEND : LOCK_SETTINGS),
    client.query<Omit<LockedLog, "runs"> & { runs: RunPosition[] }>({
      name: "tutti lock",
      text: "SELECT * FROM tutti.lock_log($1, $2)",
      values: [server, runs],
    }),
  ]);
  const [state] = rows;
  return { ...state!, runs: new Map(state!.runs.map((row) => [row.run, row])), asked: new Set(runs) };
}

const KNOWN_PARAMETERS = parameters(0, KNOWN_VALUES).replace(`$${DATA_VALUE}`, () => textArray(DATA_VALUE));

/** One statement, which is a transaction of its own. */
export function knownAppend(append: KnownAppend, call: SqlCall | null): PreparedQuery {
  const { server, epoch, batch, after, notification, runs, expected, events } = append;
  return {
    name: `tutti append known ${call?.name ?? ""}`,
    text: `SELECT tutti.append_events(${KNOWN_PARAMETERS}), ${call ? callOf(call, KNOWN_VALUES) : "NULL"} AS value`,
    values: [
      server,
      epoch,
      batch,
      after,
      CHANNEL,
      notification,
      runs.map(({ run }) => run),
      expected,
      runs.map(({ last }) => last),
      ...columnsOf(events).with(DATA_VALUE - KNOWN_VALUES - 1, JSON.stringify(events.map(({ data }) => data))),
      ...(call?.values ?? []),
    ],
  };
}

/** True for the error of a `knownAppend` that knows an earlier state of the log. */
export const isStale = (error: unknown): boolean => (error as { code?: string }).code === STALE_APPEND;

/** The statement needs the lock of `lockLog`. `seq` is the position of the log after it. */
export const lockedAppend = ({ server, batch, events, runs, notification }: Append, seq: number): PreparedQuery => ({
  name: "tutti append",
  text: `WITH inserted AS (${INSERT_EVENTS}),
            counted AS (
              INSERT INTO tutti.runs (run, last, server) SELECT * FROM unnest($8::text[], $9::bigint[], $10::text[])
              ON CONFLICT (run) DO UPDATE SET last = excluded.last),
            noted AS (UPDATE tutti.servers SET batch = $11 WHERE id = $12),
            moved AS (UPDATE tutti.log SET seq = $13)
       SELECT pg_notify($14, $15)`,
  values: [
    ...columnsOf(events),
    runs.map(({ run }) => run),
    runs.map(({ last }) => last),
    runs.map((row) => row.server),
    batch,
    server,
    seq,
    CHANNEL,
    notification,
  ],
});

export async function insertEvents(client: SqlClient, events: readonly EventRow[]): Promise<void> {
  await client.query(INSERT_EVENTS, columnsOf(events));
}

/** A call in a statement whose own values are the first `offset` ones. */
export const callOf = ({ name, values }: SqlCall, offset: number): string =>
  `${name}(${parameters(offset, values.length)})`;

function parameters(offset: number, count: number): string {
  return Array.from({ length: count }, (_, i) => `$${offset + i + 1}`).join(", ");
}

/** The values of `INSERT_EVENTS`. */
function columnsOf(events: readonly EventRow[]): unknown[] {
  const names = ["seq", "run", "run_seq", "type", "data", "at", "version"] as const;
  return names.map((name) => events.map((event) => event[name]));
}

export async function removeRun(client: SqlClient, { n, run, at, seq }: Removal): Promise<void> {
  // A removed event belongs to no run. The negative `seq` keeps (run, run_seq) unique.
  await client.query(
    "UPDATE tutti.events SET run = '', run_seq = -seq, type = $1, data = '{}', at = $2 WHERE run = $3 AND seq <= $4",
    [REMOVED, at, run, seq],
  );
  await client.query("DELETE FROM tutti.runs WHERE run = $1", [run]);
  await client.query("INSERT INTO tutti.removals VALUES ($1, $2, $3, $4)", [n, run, at, seq]);
}

/** Like `Promise.all`, but throws the first error only after all statements are answered. */
export async function allSettled<T extends readonly Promise<unknown>[]>(
  statements: T,
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(statements);
  return Promise.all(statements);
}
