// `JobQueue` hands attempts out as jobs of pg-boss, one queue per set of labels and needs. pg-boss alone decides which job is
// claimed next. Its own retries are off: a new attempt is a decision of the run.
import { createHash, randomUUID } from "node:crypto";
import type { PgBoss } from "pg-boss";
import type { HostNeeds } from "./host-link.ts";
import type { Database } from "../store/postgres/database.ts";
import type { SqlClient } from "../store/postgres/sql-client.ts";
import type { HostLabels } from "../schema/task.ts";
import { isMissingPackage, missingPackages } from "../store/postgres/load-pg.ts";

/**
 * `EXPIRE` and `KEEP_ENDED` are in seconds. pg-boss fails a job that is active for longer, which does not matter to the
 * attempt.
 */
const EXPIRE = 23 * 3600;
const KEEP_ENDED = 3600;
/** `CLAIM_LIMIT` is any number that is nowhere else in pg-boss's statement that claims jobs. */
const CLAIM_LIMIT = 746_190_700;
/** `LOCK` and `FUNCTIONS_LOCK` are constants that no other lock of Tutti has. */
const LOCK = 7_461_907;
const FUNCTIONS_LOCK = 7_461_906;

/** Servers that start together change the functions for hosts one after the other. */
export const lockFunctions = (client: SqlClient): Promise<unknown> =>
  client.query(`SELECT pg_advisory_xact_lock(${FUNCTIONS_LOCK})`);

const PLAN_ANEW = "SET plan_cache_mode = force_custom_plan";

export class JobQueue {
  readonly #boss: PgBoss;
  readonly #database: Database;
  readonly #queues = new Map<string, Promise<string>>();
  #functions: Promise<void> | null = null;

  private constructor(boss: PgBoss, database: Database) {
    this.#boss = boss;
    this.#database = database;
  }

  /** Throws an error of `missingPackages` without pg-boss. */
  static async open(database: Database): Promise<JobQueue> {
    const { PgBoss } = await loadPgBoss();
    const db = { executeSql: (text: string, values?: unknown[]) => database.pool.query(text, values) };
    const boss = new PgBoss({ db, schema: "tutti_jobs", schedule: false });
    // Maintenance fails while the database restarts, and is repeated.
    boss.on("error", () => {});
    // `boss.start` looks for its tables before it takes a lock of its own, so two servers that start together would
    // collide.
    await database.transaction("create the tables of jobs", async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
      await boss.start();
    });
    return new JobQueue(boss, database);
  }

  /** Creates the queue if it is new; `canonical` ignores the order of `labels`. */
  queueFor(labels: HostLabels, needs: HostNeeds = {}): Promise<string> {
    const offered = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const canonical = JSON.stringify([offered, needs.agents ?? [], needs.sandbox ?? false]);
    const known = this.#queues.get(canonical);
    if (known) return known;
    const created = this.#create(
      `sessions-${createHash("sha256").update(canonical).digest("hex").slice(0, 16)}`,
      labels,
      needs,
    );
    this.#queues.set(canonical, created);
    created.catch(() => this.#queues.delete(canonical));
    return created;
  }

  async #create(name: string, labels: HostLabels, needs: HostNeeds): Promise<string> {
    await this.#boss.createQueue(name, {
      retryLimit: 0,
      expireInSeconds: EXPIRE,
      deleteAfterSeconds: KEEP_ENDED,
    });
    await (this.#functions ??= this.#defineFunctions(name));
    await this.#database.pool.query(
      `INSERT INTO tutti_hosts.queue (name, labels, needs, claim) VALUES ($1, $2, $3, '') ON CONFLICT (name) DO NOTHING`,
      [name, labels, needs],
    );
    return name;
  }

  /**
   * Makes functions of pg-boss's own statements, which differ between queues only by the `name`. Logins of hosts have no
   * access to the jobs, so `host_sync` calls the functions for them. A kept plan of `claim_jobs` or `end_jobs` would be one
   * for a table without jobs, and would read all of them; `insert_jobs` reads nothing, and inherits `KEEP_PLANS`.
   */
  async #defineFunctions(name: string): Promise<void> {
    const boss = this.#boss;
    const ofQueue = (statement: string): string => statement.replaceAll(`'${name}'`, "p_queue");
    const claim = await capture((db) => boss.fetch(name, { db, batchSize: CLAIM_LIMIT }));
    const insertion = await capture((db) => boss.insert(name, [{ data: {} }], { db }));
    const ending = await capture((db) => boss.complete(name, [randomUUID()], null, { db, includeQueued: true }));
    const functions: Record<string, string> = {
      [`claim_jobs(p_queue text, p_limit integer) RETURNS TABLE (job uuid, attempt text) ${PLAN_ANEW}`]: `
        FOR each IN ${ofQueue(claim).replace(String(CLAIM_LIMIT), "p_limit")} LOOP
          job := each.id;
          attempt := each.data->>'key';
          RETURN NEXT;
        END LOOP;`,
      "insert_jobs(p_queue text, p_jobs text) RETURNS void": `${ofQueue(insertion).replaceAll("$1", "p_jobs")};`,
      [`end_jobs(p_queue text, p_jobs uuid[]) RETURNS void ${PLAN_ANEW}`]: `
        FOR each IN ${ending.replaceAll("$1", "p_queue").replaceAll("$2", "p_jobs").replaceAll("$3", "NULL")} LOOP
        END LOOP;`,
    };
    const definitions = Object.entries(functions).map(
      ([signature, body]) => `CREATE OR REPLACE FUNCTION tutti_hosts.${signature} LANGUAGE plpgsql AS $function$
        #variable_conflict use_column
        DECLARE each record;
        BEGIN ${body}
        END $function$;`,
    );
    const sql = definitions.join("\n");
    const hash = createHash("sha256").update(sql).digest("hex");
    const isCurrent = async (client: SqlClient): Promise<boolean> => {
      const { rows } = await client.query<{ hash: string | null }>(
        "SELECT obj_description(to_regprocedure('tutti_hosts.end_jobs(text, uuid[])'), 'pg_proc') AS hash",
      );
      return rows[0]!.hash === hash;
    };
    if (await isCurrent(this.#database.pool)) return;
    await this.#database.transaction("create the functions of jobs", async (client) => {
      // Another server may change the privileges of all functions meanwhile, or have created these.
      await lockFunctions(client);
      if (await isCurrent(client)) return;
      await client.query(sql);
      await client.query(`COMMENT ON FUNCTION tutti_hosts.end_jobs(text, uuid[]) IS '${hash}'`);
      await client.query("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tutti_hosts FROM PUBLIC");
    });
  }

  async end(jobs: readonly { id: string; queue: string }[]): Promise<void> {
    for (const [queue, those] of Map.groupBy(jobs, (job) => job.queue)) {
      const ids = those.map(({ id }) => id);
      await this.#boss.complete(queue, ids, null, { includeQueued: true });
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

interface CapturingDatabase {
  executeSql(text: string): Promise<{ rows: { count: string; ids: never[] }[] }>;
}

/** Returns the statement that `act` would execute. */
async function capture(act: (db: CapturingDatabase) => Promise<unknown>): Promise<string> {
  const statements: string[] = [];
  const executeSql = async (text: string) => {
    statements.push(text);
    return { rows: [{ count: "0", ids: [] }] };
  };
  await act({ executeSql });
  if (statements.length !== 1) throw new Error(`pg-boss executed ${statements.length} statements instead of one.`);
  return statements[0]!;
}

/** Loads pg-boss, which takes about as long as opening the log. */
export async function loadPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw isMissingPackage(error) ? missingPackages(error) : error;
  }
}
