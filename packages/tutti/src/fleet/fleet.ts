// `Fleet` is the server's side of worker hosts: it places attempts, calls the host that holds an attempt, and notices
// lost hosts.
//
// Invariants
// 1. An attempt has one place for its whole life. Its event, its row and its job are added in one transaction.
// 2. A request to a host has a name that is unique within its attempt, so repeating it after a crash changes nothing.
// 3. An attempt on a lost host is `over` for good. The host learns that from its next beat.
import { createHash, randomUUID } from "node:crypto";
import { Ahead } from "./ahead.ts";
import { FleetCalls, type SignalReader } from "./fleet-calls.ts";
import { HOST_FUNCTIONS_SQL, HOST_TABLES, HOST_TABLES_CHANGES, IS_READY, REPORTS } from "./host-tables.ts";
import type { HostNeeds } from "./host-link.ts";
import { JobQueue, lockFunctions } from "./job-queue.ts";
import { removeHost, setDrained } from "./manage-hosts.ts";
import { listen } from "./listen.ts";
import { QueryBatch } from "./query-batch.ts";
import { retryQuery } from "./retry-query.ts";
import { BUILT_IN_AGENTS } from "../schema/agent/built-in-agents.ts";
import type { HostRow } from "../schema/api/host-routes.ts";
import { TuttiError } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { HostLabels } from "../schema/task.ts";
import { OUTSIDE } from "../schema/team/roles.ts";
import type { Database } from "../store/postgres/database.ts";
import type { AppendedCall } from "../store/postgres/postgres-store.ts";
import type { SqlClient } from "../store/postgres/sql-client.ts";
import type { Parcel } from "../workspace/exchange/exchange.ts";
import type { World } from "../world.ts";

interface FleetOptions {
  database: Database;
  world: World;
  /** The id of this server in the log. */
  server: string;
  leaseMs: number;
  /** Whether the server works beside its hosts. */
  alsoWork: boolean;
}

const keyOf = (run: string, task: string | null, attempt: number): string => `${run}/${task ?? "main"}/${attempt}`;

interface AttemptRow {
  key: string;
  run: string;
  session: string;
  state: string;
  archived: boolean;
  /** The server with the session, if no host has it. */
  server: string | null;
}

const ATTEMPTS = "SELECT key, run, session, state, archived, server FROM tutti_hosts.attempt";

interface KnownAttempt {
  key: string;
  run: string;
  onHost: boolean;
  archived: boolean;
  server: string | null;
  /** Whether a host is known to have taken the attempt. */
  isTaken: boolean;
  /** Names of `request` rows, so that `wasCalled` needs no query. Null until they are read. */
  requests: Set<string> | null;
}

interface PlacedAttempt extends Pick<AttemptRow, "key" | "run" | "session"> {
  task: string | null;
  /** Null for an attempt that stays here. */
  queue: string | null;
  job: string;
}

interface Placement {
  hasReadyHost: boolean;
  /** Queues with an attempt that no host has taken yet. */
  waiting: string[];
}

const WAITING = { state: "waiting", server: null };

/** An attempt that is over, with its job. */
interface EndedRow {
  key: string;
  queue: string | null;
  id: string | null;
}

/** An attempt that waits because no ready host offers its labels. */
interface UnplacedAttempt {
  run: string;
  session: string;
  labels: HostLabels;
}

/** Wakes the servers that wait for the attempt `a`. */
const NOTIFY_OVER = `pg_notify('${REPORTS}', a.key)`;
/** `UNPLACED_MS` is how long hosts with the labels of an attempt may be missing before it is reported to the user. */
const UNPLACED_MS = 60_000;

/** The fleet also polls, because notifications of `listen` can be missed. */
const POLL_MS = 1000;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #jobs: JobQueue;
  readonly #attempts = new Map<string, KnownAttempt>();
  readonly #keys = new Map<string, string>();
  readonly #calls: FleetCalls;
  readonly ahead = new Ahead();
  readonly #finished = new QueryBatch<{ key: string; reason: string }, void>((attempts) => this.#finish(attempts));
  readonly #leaving = new AbortController();
  readonly #background: Promise<unknown>[] = [];
  /** Whether the sessions of a run have a sandbox. */
  readonly #sandboxes = new Map<string, boolean>();
  #hasReadyHost = false;
  #isShared = false;
  #onShared: () => Promise<void> = () => Promise.resolve();
  readonly #reported = new Set<string>();
  #onUnplaced: (attempt: UnplacedAttempt) => Promise<boolean> = () => Promise.resolve(false);

  private constructor(options: FleetOptions, jobs: JobQueue) {
    this.#options = options;
    this.#jobs = jobs;
    this.#calls = new FleetCalls({ pool: options.database.pool, query: (work) => this.#query(work) });
  }

  /** The fleet owns `database`, and closes it also if opening fails. */
  static async open(options: FleetOptions): Promise<Fleet> {
    try {
      return await Fleet.#open(options);
    } catch (error) {
      await options.database.close();
      throw error;
    }
  }

  static async #open(options: FleetOptions): Promise<Fleet> {
    const { database } = options;
    await createHostTables(database);
    const jobs = await JobQueue.open(database);
    await jobs.queueFor({});
    await database.pool.query("UPDATE tutti_hosts.setting SET lease_ms = $1", [options.leaseMs]);
    const fleet = new Fleet(options, jobs);
    await fleet.#load();
    await fleet.#watchHosts();
    fleet.#begin();
    return fleet;
  }

  async #load(): Promise<void> {
    const { rows } = await this.#options.database.pool.query<AttemptRow>(ATTEMPTS);
    for (const row of rows) this.#remember(row, null);
    // The names of requests of another server's runs would grow unnoticed.
    const called = await this.#options.database.pool.query<{ key: string; names: string[] }>(
      `SELECT a.key, array_remove(array_agg(q.name), NULL) AS names
         FROM tutti.runs r JOIN tutti_hosts.attempt a USING (run) LEFT JOIN tutti_hosts.request q USING (key)
        WHERE r.server = $1 AND a.state IN ('waiting', 'held') GROUP BY a.key`,
      [this.#options.server],
    );
    for (const { key, names } of called.rows) this.#attemptOf(key)!.requests = new Set(names);
  }

  #remember({ session, state, ...row }: AttemptRow, requests: Set<string> | null): KnownAttempt {
    const attempt = { ...row, onHost: state !== "here", isTaken: state === "held", requests };
    this.#attempts.set(session, attempt);
    this.#keys.set(attempt.key, session);
    return attempt;
  }

  #begin(): void {
    const { database, world, leaseMs } = this.#options;
    const { signal } = this.#leaving;
    this.#background.push(
      listen(database, { [REPORTS]: (keys) => this.#calls.noticed(...keys.split("\n")) }, { world, signal }),
    );
    const watch = async () => {
      while (!signal.aborted) {
        await world.sleep(Math.min(POLL_MS, leaseMs / 4), signal, true);
        this.#calls.readAll();
        if (!signal.aborted) await this.#watchHosts().catch(() => {});
        if (!signal.aborted) await this.#reportUnplaced().catch(() => {});
      }
    };
    this.#background.push(watch());
  }

  /** Ends the attempts of lost and removed hosts, and those that no host will take. */
  async #watchHosts(): Promise<void> {
    const { database } = this.#options;
    const lost = await database.pool.query<EndedRow>(
      `UPDATE tutti_hosts.attempt a SET state = 'over', reason = l.reason FROM (
         SELECT a.key, CASE WHEN h.removed THEN 'its host was removed' ELSE 'its host was lost' END AS reason
           FROM tutti_hosts.attempt a JOIN tutti_hosts.host h ON h.id = a.host
          WHERE a.state = 'held' AND (h.removed OR NOT tutti_hosts.is_alive(h.*))
          ORDER BY a.key FOR UPDATE OF a) AS l
        WHERE a.key = l.key AND a.state = 'held' RETURNING a.key, a.queue, a.job AS id, ${NOTIFY_OVER}`,
    );
    const { rows } = await database.pool.query<{ hasReadyHost: boolean; isShared: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM tutti_hosts.host WHERE ${IS_READY}) AS "hasReadyHost",
              EXISTS (SELECT 1 FROM tutti.servers WHERE id <> $1) AS "isShared"`,
      [this.#options.server],
    );
    this.#hasReadyHost = rows[0]!.hasReadyHost;
    const isNewlyShared = rows[0]!.isShared && !this.#isShared;
    this.#isShared = rows[0]!.isShared;
    if (isNewlyShared) await this.#onShared();
    // Without a host that fits, the server works itself, except on tasks with labels.
    const untaken = await database.pool.query<EndedRow>(
      `UPDATE tutti_hosts.attempt a SET state = 'over', reason = 'no host is ready' WHERE key IN (
         SELECT key FROM tutti_hosts.attempt WHERE state = 'waiting' AND queue IN (
           SELECT q.name FROM tutti_hosts.queue q WHERE q.labels = '{}'
              AND NOT EXISTS (SELECT 1 FROM tutti_hosts.host WHERE tutti_hosts.fits(host.*, q.*) AND ${IS_READY}))
          ORDER BY key FOR UPDATE)
        AND state = 'waiting' RETURNING a.key, queue, job AS id, ${NOTIFY_OVER}`,
    );
    await this.#endJobs([...lost.rows, ...untaken.rows]);
  }

  /** `report` returns whether this server carries on the run. An attempt for which it returns true is reported once. */
  onUnplaced(report: (attempt: UnplacedAttempt) => Promise<boolean>): void {
    this.#onUnplaced = report;
  }

  async #reportUnplaced(): Promise<void> {
    const { rows } = await this.#options.database.pool.query<UnplacedAttempt>(
      `SELECT a.run, a.session, q.labels FROM tutti_hosts.attempt a JOIN tutti_hosts.queue q ON q.name = a.queue
        WHERE a.state = 'waiting' AND q.labels <> '{}' AND a.created_at < now() - $1 * interval '1 ms'
          AND NOT EXISTS (SELECT 1 FROM tutti_hosts.host WHERE tutti_hosts.fits(host.*, q.*) AND ${IS_READY})`,
      [UNPLACED_MS],
    );
    for (const attempt of rows) {
      if (!this.#reported.has(attempt.session) && (await this.#onUnplaced(attempt)))
        this.#reported.add(attempt.session);
    }
  }

  /** Other agents than `BUILT_IN_AGENTS` are commands, of which a host does not know whether it has them. */
  async #needsOf(run: string, agent: string | undefined): Promise<HostNeeds> {
    const sandbox = this.#sandboxes.get(run) ?? (await hasSandbox(this.#options.database.pool, run));
    this.#sandboxes.set(run, sandbox);
    return {
      ...(agent !== undefined && BUILT_IN_AGENTS.includes(agent) ? { agents: [agent] } : {}),
      ...(sandbox ? { sandbox: true as const } : {}),
    };
  }

  /** Whether another server uses the database, or did so within the last days. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** `act` is called when `isShared` becomes true. */
  onShared(act: () => Promise<void>): void {
    this.#onShared = act;
  }

  async storeParcel(run: string, { refs, bundle }: Pick<Parcel, "refs" | "bundle">): Promise<void> {
    await this.#query(() =>
      this.#options.database.pool.query("INSERT INTO tutti_hosts.parcel (run, refs, bundle) VALUES ($1, $2, $3)", [
        run,
        JSON.stringify(refs),
        bundle,
      ]),
    );
  }

  /** In the order in which they were stored. */
  async parcels(run: string): Promise<Pick<Parcel, "refs" | "bundle">[]> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ refs: string; bundle: string | null }>(
        "SELECT refs, bundle FROM tutti_hosts.parcel WHERE run = $1 ORDER BY n",
        [run],
      ),
    );
    return rows.map(({ refs, bundle }) => ({ refs: JSON.parse(refs) as Parcel["refs"], bundle }));
  }

  /** May be a second old. */
  get hasReadyHost(): boolean {
    return this.#hasReadyHost;
  }

  async findsReadyHost(): Promise<boolean> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ found: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM tutti_hosts.host WHERE ${IS_READY}) AS found`,
      ),
    );
    return (this.#hasReadyHost = rows[0]!.found);
  }

  /**
   * Places the attempts that `events` start, in the transaction that stores these. An attempt without labels stays here
   * while no ready host fits it.
   */
  async extend(events: readonly StoredEvent[]): Promise<AppendedCall | null> {
    // The first event of a run names its sandbox. It may be stored together with the start of a session.
    for (const { run, runSeq, data } of events) if (run && runSeq === 1) this.#sandboxes.set(run, isOn(data));
    const started = events.flatMap((event) =>
      event.type === "main:spawning" || event.type === "worker:spawning" ? [event] : [],
    );
    if (started.length === 0) return null;
    const room = await this.#room();
    let plain = 0;
    const placed: PlacedAttempt[] = [];
    for (const event of started) {
      const { sessionId: session, taskId: task, attempt, agent } = event.data;
      const run = event.run!;
      const labels = event.type === "worker:spawning" ? (event.data.labels ?? {}) : {};
      const isLabelled = Object.keys(labels).length > 0;
      const key = keyOf(run, task, attempt);
      // Another process plays the session of a role with `OUTSIDE`, and its workspace is here.
      const isOffered = agent !== OUTSIDE && (isLabelled || plain < room);
      if (isOffered && !isLabelled) plain += 1;
      const queue = isOffered ? await this.#jobs.queueFor(labels, await this.#needsOf(run, agent)) : null;
      placed.push({ key, run, session, task, queue, job: randomUUID() });
    }
    return {
      name: "tutti_hosts.place",
      values: [this.#options.server, JSON.stringify(placed)],
      // The sessions are used only after the commit. A repeated transaction places them again.
      returned: (value) => this.#placed(placed, value as Placement),
    };
  }

  #placed(placed: readonly PlacedAttempt[], { hasReadyHost, waiting }: Placement): void {
    const { server } = this.#options;
    this.#hasReadyHost = hasReadyHost;
    for (const { queue, ...attempt } of placed) {
      const place = queue !== null && waiting.includes(queue) ? WAITING : { state: "here", server };
      this.#remember({ ...attempt, ...place, archived: false }, new Set());
    }
  }

  /**
   * An unknown attempt belongs to an imported run and stays here, so `isPlacedOnHost` is false. Throws `host_lost` for an
   * attempt whose session another server has: that server may still work on it.
   */
  async isPlacedOnHost(session: string): Promise<boolean> {
    const known = this.#attempts.get(session) ?? (await this.#look(session));
    if (!known) return false;
    if (!known.onHost && known.server !== null && known.server !== this.#options.server)
      throw new TuttiError("host_lost", "its server was lost");
    known.requests ??= await this.#loadRequests(known.key);
    return known.onHost;
  }

  /** Another server may have placed the attempt, so it may be in `ATTEMPTS` only. */
  async #look(session: string): Promise<KnownAttempt | null> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<AttemptRow>(`${ATTEMPTS} WHERE session = $1`, [session]),
    );
    return rows[0] ? this.#remember(rows[0], null) : null;
  }

  /** The number of sessions that may be placed on hosts. Without `alsoWork` all attempts wait for hosts. */
  async #room(): Promise<number> {
    if (!this.#options.alsoWork) return Number.POSITIVE_INFINITY;
    const ready = (await this.list()).filter(({ state }) => state === "ready");
    const { rows } = await this.#options.database.pool.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM tutti_hosts.attempt a JOIN tutti_hosts.queue q ON q.name = a.queue
        WHERE a.state = 'waiting' AND q.labels = '{}'`,
    );
    return ready.reduce((sum, { capacity, sessions }) => sum + Math.max(0, capacity - sessions), -rows[0]!.waiting);
  }

  async #loadRequests(key: string): Promise<Set<string>> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ name: string }>("SELECT name FROM tutti_hosts.request WHERE key = $1", [key]),
    );
    return new Set(rows.map(({ name }) => name));
  }

  /**
   * Returns null for a session that does not run on a host. Unlike `isPlacedOnHost`, knows only attempts that this
   * server has seen.
   */
  find(session: string): { key: string; archived: boolean } | null {
    const known = this.#attempts.get(session);
    return known?.onHost ? known : null;
  }

  isOnHost(key: string): boolean {
    const session = this.#keys.get(key);
    return session !== undefined && this.#attempts.get(session)!.onHost;
  }

  hasRun(run: string): boolean {
    return [...this.#attempts.values()].some((attempt) => attempt.run === run && attempt.onHost);
  }

  /** Sessions of `run` with an attempt that is waiting or held. Null if another server carries on the run. */
  async openSessions(run: string): Promise<{ session: string; key: string }[] | null> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ isForeign: boolean; open: { session: string; key: string }[] }>(
        `SELECT EXISTS (SELECT 1 FROM tutti.runs WHERE run = $1 AND server <> $2) AS "isForeign",
                (SELECT coalesce(json_agg(json_build_object('session', session, 'key', key)), '[]')
                   FROM tutti_hosts.attempt WHERE run = $1 AND state IN ('waiting', 'held')) AS open`,
        [run, this.#options.server],
      ),
    );
    const { isForeign, open } = rows[0]!;
    return isForeign ? null : open;
  }

  /** Sessions on this server of runs that another server has taken over. */
  async abandonedSessions(): Promise<{ run: string; session: string }[]> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ run: string; session: string }>(
        `SELECT a.run, a.session FROM tutti_hosts.attempt a JOIN tutti.runs r USING (run)
          WHERE a.state = 'here' AND a.server = $1 AND r.server <> $1 AND NOT a.archived`,
        [this.#options.server],
      ),
    );
    return rows;
  }

  wasCalled(key: string, name: string): boolean {
    return this.#attemptOf(key)?.requests?.has(name) ?? false;
  }

  /**
   * Sends a request to the host of the attempt and returns its reply. A repeated `name` returns the first reply. Waits for a
   * host if none has the attempt yet. Throws `host_lost` if the attempt is over, and `engine_stopped` after `leave`.
   */
  async call(key: string, name: string, body: object): Promise<unknown> {
    const known = this.#attemptOf(key);
    known?.requests?.add(name);
    const reply = await this.#calls.call(key, name, body);
    if (known) known.isTaken = true;
    return reply;
  }

  #attemptOf(key: string): KnownAttempt | undefined {
    return this.#attempts.get(this.#keys.get(key) ?? "");
  }

  follow(key: string): SignalReader {
    return this.#calls.follow(key);
  }

  /** Returns null for a session that is not `onHost`. */
  async transcript(session: string, after: number, limit: number): Promise<string[] | null> {
    const known = this.#attempts.get(session) ?? (await this.#look(session));
    if (!known?.onHost) return null;
    const { key } = known;
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ body: string }>(
        "SELECT body FROM tutti_hosts.entry WHERE key = $1 AND n > $2 ORDER BY n LIMIT $3",
        [key, after, Math.min(limit, 100_000)],
      ),
    );
    return rows.map(({ body }) => body);
  }

  /** After `finish`, reports of the host about the attempt are rejected. */
  finish(key: string, reason: string): Promise<void> {
    return this.#finished.add({ key, reason });
  }

  async #finish(attempts: readonly { key: string; reason: string }[]): Promise<void[]> {
    const keys = attempts.map(({ key }) => key);
    await this.#query(() =>
      this.#options.database.pool.query({
        name: "tutti finish",
        text: "SELECT tutti_hosts.finish($1, $2)",
        values: [keys, attempts.map(({ reason }) => reason)],
      }),
    );
    this.#calls.noticed(...keys);
    return attempts.map(() => {});
  }

  /** Returns false if a host has taken the attempt. */
  async withdraw(key: string): Promise<boolean> {
    if (this.#attemptOf(key)?.isTaken) return false;
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<EndedRow>(
        `UPDATE tutti_hosts.attempt a SET state = 'over', reason = 'it was stopped' WHERE key = $1 AND state = 'waiting'
         RETURNING a.key, queue, job AS id, ${NOTIFY_OVER}`,
        [key],
      ),
    );
    await this.#endJobs(rows);
    return rows.length > 0;
  }

  async #endJobs(ended: readonly EndedRow[]): Promise<void> {
    await this.#jobs.end(ended.flatMap(({ queue, id }) => (queue !== null && id !== null ? [{ queue, id }] : [])));
  }

  async archive(session: string): Promise<void> {
    const known = this.#attempts.get(session)!;
    await this.#query(() =>
      this.#options.database.pool.query("UPDATE tutti_hosts.attempt SET archived = true WHERE key = $1", [known.key]),
    );
    known.archived = true;
  }

  async forget(run: string): Promise<void> {
    const { database } = this.#options;
    await this.#query(() =>
      database.transaction("forget a run", async (client) => {
        const { rows } = await client.query<{ key: string }>(
          "DELETE FROM tutti_hosts.attempt WHERE run = $1 RETURNING key",
          [run],
        );
        const keys = rows.map(({ key }) => key);
        // Only now: a host may have stored a report while the attempt was locked.
        for (const table of ["request", "signal", "entry"])
          await client.query(`DELETE FROM tutti_hosts.${table} WHERE key = ANY($1)`, [keys]);
        await client.query("DELETE FROM tutti_hosts.parcel WHERE run = $1", [run]);
      }),
    );
    this.#sandboxes.delete(run);
    for (const [session, attempt] of this.#attempts) {
      if (attempt.run !== run) continue;
      this.#attempts.delete(session);
      this.#keys.delete(attempt.key);
    }
  }

  list(): Promise<HostRow[]> {
    return listHosts(this.#options.database);
  }

  drain(id: string): Promise<void> {
    return setDrained(this.#options.database, id, true);
  }

  undrain(id: string): Promise<void> {
    return setDrained(this.#options.database, id, false);
  }

  remove(id: string): Promise<void> {
    return removeHost(this.#options.database, id);
  }

  async #query<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#leaving;
    if (signal.aborted) throw engineStopped();
    const result = await retryQuery(work, this.#options.world, signal).catch((error: unknown) => {
      throw signal.aborted ? engineStopped() : error;
    });
    if (signal.aborted) throw engineStopped();
    return result;
  }

  get hasLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Detaches from all hosts, which continue their sessions. Every call ends with `engineStopped`. */
  leave(): void {
    this.#leaving.abort();
    this.#calls.end(engineStopped());
  }

  async close(): Promise<void> {
    this.leave();
    await Promise.all(this.#background);
    await this.#jobs.close();
    await this.#options.database.close();
  }
}

const isOn = (data: object): boolean => "sandbox" in data && data.sandbox === "on";

async function hasSandbox(client: SqlClient, run: string): Promise<boolean> {
  const { rows } = await client.query<{ data: string }>(
    "SELECT data FROM tutti.events WHERE run = $1 ORDER BY run_seq LIMIT 1",
    [run],
  );
  return rows[0] !== undefined && isOn(JSON.parse(rows[0].data) as object);
}

const FUNCTIONS_HASH = createHash("sha256").update(HOST_FUNCTIONS_SQL).digest("hex");

export async function createHostTables(database: Database): Promise<void> {
  // Most starts find everything. Replacing functions would take time, and end the plans of all connections.
  const isCurrent = "SELECT 1 FROM tutti_hosts.setting WHERE functions = $1";
  const current = await database.pool.query(isCurrent, [FUNCTIONS_HASH]).catch(() => null);
  if (current && current.rows.length > 0) return;
  await database.transaction("create the tables of hosts", async (client) => {
    await lockFunctions(client);
    const { rows } = await client.query<{ exists: boolean; isEarlier: boolean }>(
      `SELECT to_regclass('tutti_hosts.attempt') IS NOT NULL AS exists, NOT EXISTS (
         SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('tutti_hosts.setting') AND attname = 'functions') AS "isEarlier"`,
    );
    const { exists, isEarlier } = rows[0]!;
    if (!exists) await client.query(`CREATE SCHEMA tutti_hosts; ${HOST_TABLES}`);
    // A change of the tables waits for all transactions of hosts, so `HOST_TABLES_CHANGES` runs only if it is missing.
    else if (isEarlier) await client.query(HOST_TABLES_CHANGES);
    // Another server may have changed them while this one waited for the lock.
    else if ((await client.query(isCurrent, [FUNCTIONS_HASH])).rows.length > 0) return;
    await client.query(HOST_FUNCTIONS_SQL);
    await client.query("UPDATE tutti_hosts.setting SET functions = $1", [FUNCTIONS_HASH]);
  });
}

/** Creates the tables for a worker that starts before its server, if its login has the privilege `CREATE`. */
export async function provideHostTables(database: Database): Promise<void> {
  const { rows } = await database.pool.query<{ isMissing: boolean }>(
    `SELECT to_regnamespace('tutti_hosts') IS NULL AND has_database_privilege(current_database(), 'CREATE') AS "isMissing"`,
  );
  if (rows[0]!.isMissing) await createHostTables(database);
}

export async function listHosts({ pool }: Database): Promise<HostRow[]> {
  const { rows } = await pool.query<Omit<HostRow, "seenAt"> & { seenAt: Date | null }>(
    `SELECT h.id, h.name, h.labels, h.capacity, h.version, h.seen_at AS "seenAt", h.facts->'agents' AS agents,
            CASE WHEN NOT tutti_hosts.is_alive(h.*) THEN 'lost'
                 WHEN h.drained OR h.leaving THEN 'draining' ELSE 'ready' END AS state,
            coalesce(held.tasks, '[]') AS tasks, coalesce(held.sessions, 0) AS sessions
       FROM tutti_hosts.host h LEFT JOIN LATERAL (
              SELECT count(*)::int AS sessions, json_agg(a.task ORDER BY a.key) FILTER (WHERE a.task IS NOT NULL) AS tasks
                FROM tutti_hosts.attempt a WHERE a.host = h.id AND a.state = 'held') held ON true
      WHERE NOT h.removed ORDER BY h.name, h.id`,
  );
  return rows.map(({ seenAt, agents, ...row }) => ({
    ...row,
    agents: agents ?? [],
    seenAt: seenAt === null ? null : seenAt.toISOString(),
  }));
}

const engineStopped = (): TuttiError =>
  new TuttiError("engine_stopped", "The server is ending. The session continues on its host.");
