// `JobQueue` hands attempts out as jobs of pg-boss, one queue per set of labels and needs. pg-boss alone decides which job is
// claimed next. Its own retries are off: a new attempt is a decision of the run.
import { createHash } from "node:crypto";
import type { PgBoss } from "pg-boss";
import type { HostNeeds } from "./host-link.ts";
import { CLAIM_LIMIT } from "./host-tables.ts";
import type { Database } from "../store/postgres/database.ts";
import type { HostLabels } from "../schema/task.ts";
import { isMissingPackage, missingPackages } from "../store/postgres/load-pg.ts";

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
      `INSERT INTO tutti_hosts.queue (name, labels, needs, claim, insertion) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET claim = excluded.claim, insertion = excluded.insertion`,
      [name, labels, needs, await this.#claimStatement(name), await this.#insertStatement(name)],
    );
    return name;
  }

  /**
   * The SQL with which pg-boss claims jobs. Logins of hosts have no access to the jobs, so `host_sync` executes this
   * `statement` for them, with the number of jobs in place of `CLAIM_LIMIT`.
   */
  #claimStatement(name: string): Promise<string> {
    return capture((db) => this.#boss.fetch(name, { db, batchSize: CLAIM_LIMIT }));
  }

  /** Its one parameter is the JSON of the jobs. `place` executes it with the attempts that wait for a host. */
  #insertStatement(name: string): Promise<string> {
    return capture((db) => this.#boss.insert(name, [{ data: {} }], { db }));
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
  executeSql(text: string): Promise<{ rows: never[] }>;
}

/** Returns the statement that `act` would execute. */
async function capture(act: (db: CapturingDatabase) => Promise<unknown>): Promise<string> {
  const statements: string[] = [];
  const executeSql = async (text: string) => {
    statements.push(text);
    return { rows: [] };
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
