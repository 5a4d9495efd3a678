// `JobQueue` hands attempts out as jobs of pg-boss, one queue per set of labels and needs. pg-boss alone decides which job is
// claimed next. Its own retries are off: a new attempt is a decision of the run.
import { createHash } from "node:crypto";
import type { PgBoss } from "pg-boss";
import type { HostNeeds } from "./host-link.ts";
import { CLAIM_LIMIT } from "./host-tables.ts";
import type { Database } from "../store/postgres/database.ts";
import type { SqlClient } from "../store/postgres/sql-client.ts";
import type { HostLabels } from "../schema/task.ts";
import { isMissingPackage, missingPackages } from "../store/postgres/load-pg.ts";

export interface AttemptJob {
  id: string;
  queue: string;
  /** The key of the attempt. */
  key: string;
}

/**
 * `EXPIRE` and `KEEP_ENDED` are in seconds. pg-boss fails a job that is active for longer, which does not matter to the
 * attempt.
 */
const EXPIRE = 23 * 3600;
const KEEP_ENDED = 3600;
/** `LOCK` is any constant that no other lock of Tutti has. */
const LOCK = 7_461_907;

export class JobQueue {
  readonly #boss: PgBoss;
  readonly #database: Database;
  readonly #queues = new Map<string, Promise<string>>();

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
    await this.#database.pool.query(
      "INSERT INTO tutti_hosts.queue (name, labels, needs, claim) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET claim = excluded.claim",
      [name, labels, needs, await this.#claimStatement(name)],
    );
    return name;
  }

  /**
   * The SQL with which pg-boss claims jobs. Logins of hosts have no access to the jobs, so `host_sync` executes this
   * `statement` for them, with the number of jobs in place of `CLAIM_LIMIT`.
   */
  async #claimStatement(name: string): Promise<string> {
    let statement = "";
    const executeSql = async (text: string) => {
      statement = text;
      return { rows: [] };
    };
    await this.#boss.fetch(name, { db: { executeSql }, batchSize: CLAIM_LIMIT });
    return statement;
  }

  /** Uses the transaction of `client`. */
  async add(client: SqlClient, jobs: readonly AttemptJob[]): Promise<void> {
    const executeSql = (text: string, values?: unknown[]) => client.query(text, values);
    for (const [queue, those] of Map.groupBy(jobs, (job) => job.queue)) {
      const inserted = those.map(({ id, key }) => ({ id, data: { key } }));
      await this.#boss.insert(queue, inserted, { db: { executeSql } });
    }
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

/** Loads pg-boss, which takes about as long as opening the log. */
export async function loadPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw isMissingPackage(error) ? missingPackages(error) : error;
  }
}
