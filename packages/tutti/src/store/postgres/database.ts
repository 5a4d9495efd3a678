import type { Client, Pool } from "pg";
import { databaseError } from "./database-error.ts";
import { loadPg } from "./load-pg.ts";
import type { PooledClient, SqlConnection, SqlPool } from "./sql-client.ts";
import { TuttiError } from "../../schema/error.ts";

/** `INT8` is PostgreSQL's number of the type `bigint`, which `pg` returns as text by default. */
const INT8 = 20;
const CONNECT_MS = 5000;
/** A network that is cut off drops packets without an error, so `QUERY_MS` limits every query. */
const QUERY_MS = 10_000;

export interface Database {
  readonly pool: SqlPool;
  /** Host and name of the database, without the password. */
  readonly place: string;
  /** Runs `work` in a transaction on one connection. Every error is a `TuttiError`. */
  transaction<T>(purpose: string, work: (client: PooledClient) => Promise<T>): Promise<T>;
  /** Opens a connection outside `pool`, such as one for LISTEN. The caller ends it. */
  connect(): Promise<SqlConnection>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  url: string;
  /** `pg_stat_activity` shows `name`. */
  name?: string;
  maxConnections?: number;
}

/** Throws `usage` for an address that is none of PostgreSQL, and `database_unreachable` if the database does not answer. */
export async function openDatabase({ url, name = "tutti", maxConnections = 4 }: DatabaseOptions): Promise<Database> {
  checkUrl(url);
  const pg = await loadPg();
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const settings = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    keepAlive: true,
    // Statements of a transaction that need no result of each other travel together.
    pipeline: true,
    // A host relies on a report that was acknowledged, whatever the default of the database.
    options: "-c synchronous_commit=on",
    types,
  };
  let pool: Pool;
  let place: string;
  try {
    // `pg.Client` and `pg.Pool` throw for a `connectionString` that they cannot parse.
    place = placeOf(new pg.Client(settings));
    pool = new pg.Pool({ ...settings, max: maxConnections });
  } catch (error) {
    throw wrongUrl(error);
  }
  // A lost connection rejects the query that runs on it, and `pool` replaces an idle one.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const failure = (purpose: string) => (error: unknown) => {
    throw databaseError(error, place, purpose);
  };
  const database: Database = {
    pool,
    place,
    async transaction(purpose, work) {
      const client = await pool.connect().catch(failure("connect"));
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        const result = await work(client);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        // `broken` keeps a connection out of the pool if its rollback fails.
        await client.query("ROLLBACK").catch((second: Error) => (broken = second));
        throw databaseError(error, place, purpose);
      } finally {
        client.release(broken);
      }
    },
    async connect() {
      const client = new pg.Client(settings);
      client.on("error", () => {});
      await client.connect().catch(failure("connect"));
      return client;
    },
    close: () => pool.end(),
  };
  await pool.query("SELECT 1").catch(async (error: unknown) => {
    await pool.end();
    failure("connect")(error);
  });
  return database;
}

function checkUrl(url: string): void {
  if (!/^postgres(?:ql)?:\/\/\S+$/.test(url)) throw wrongUrl(null);
}

const wrongUrl = (cause: unknown): TuttiError =>
  new TuttiError(
    "usage",
    "The value of --database-url is no address of PostgreSQL. Write postgres://USER:PASSWORD@HOST:PORT/DATABASE.",
    { cause },
  );

const placeOf = ({ database, host, port }: Client): string =>
  host.startsWith("/") ? `"${database}" at ${host}` : `"${database}" at ${host}:${port}`;
