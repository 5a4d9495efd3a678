// `Fleet` is the server's side of worker hosts: it places attempts, calls the host that holds an attempt, and notices
// lost hosts.
//
// Invariants
// 1. An attempt has one place for its whole life. Its event, its row and its job are added in one transaction.
// 2. A request to a host has a name that is unique within its attempt, so repeating it after a crash changes nothing.
// 3. An attempt on a lost host is `over` for good. The host learns that from its next beat.
import { randomUUID } from "node:crypto";
import { HOST_CHANNEL, HOST_FUNCTIONS_SQL, HOST_TABLES, REPORTS } from "./host-tables.ts";
import { JobQueue } from "./job-queue.ts";
import { removeHost, setDrained } from "./manage-hosts.ts";
import { listen } from "./listen.ts";
import { retryQuery } from "./retry-query.ts";
import type { HostRow } from "../schema/api/host-routes.ts";
import { TuttiError, type ErrorCode } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { HostLabels } from "../schema/task.ts";
import { OUTSIDE } from "../schema/team/roles.ts";
import type { Database } from "../store/postgres/database.ts";
import type { SqlClient } from "../store/postgres/sql-client.ts";
import type { World } from "../world.ts";

interface FleetOptions {
  database: Database;
  world: World;
  leaseMs: number;
  /** Whether the server works beside its hosts. */
  alsoWork: boolean;
}

const keyOf = (run: string, task: string | null, attempt: number): string => `${run}/${task ?? "main"}/${attempt}`;

export type Reply = { ok: unknown } | { error: { code: ErrorCode; message: string; details?: unknown } };

interface AttemptRow {
  key: string;
  run: string;
  session: string;
  state: string;
  archived: boolean;
}

const ATTEMPTS = "SELECT key, run, session, state, archived FROM tutti_hosts.attempt";

interface SignalRow {
  state: string;
  reason: string | null;
  at: number | null;
  body: string | null;
}

export interface AttemptWatch {
  /** Resolves after a report about the attempt since the last call, after `POLL_MS`, or when `signal` is aborted. */
  changed(signal?: AbortSignal): Promise<void>;
  end(): void;
}

interface KnownAttempt {
  key: string;
  run: string;
  onHost: boolean;
  archived: boolean;
  /** Names of `request` rows, so that `wasCalled` needs no query. */
  requests: Set<string>;
}

/** An attempt that waits because no ready host offers its labels. */
interface UnplacedAttempt {
  run: string;
  session: string;
  labels: HostLabels;
}

/** `UNPLACED_MS` is how long hosts with the labels of an attempt may be missing before it is reported to the user. */
const UNPLACED_MS = 60_000;
const IS_READY = "NOT removed AND NOT drained AND NOT leaving AND seen_at >= now() - $1 * interval '1 ms'";

/** The fleet also polls, because notifications of `listen` can be missed. */
const POLL_MS = 1000;
/** `LOCK` is any constant: servers that start together create the tables one after the other. */
const LOCK = 7_461_906;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #jobs: JobQueue;
  readonly #attempts = new Map<string, KnownAttempt>();
  readonly #keys = new Map<string, string>();
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #leaving = new AbortController();
  readonly #background: Promise<unknown>[] = [];
  #hasReadyHost = false;
  readonly #reported = new Set<string>();
  #onUnplaced: (attempt: UnplacedAttempt) => Promise<boolean> = () => Promise.resolve(false);

  private constructor(options: FleetOptions, jobs: JobQueue) {
    this.#options = options;
    this.#jobs = jobs;
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
    for (const row of rows) this.#remember(row);
  }

  #remember({ session, state, ...row }: AttemptRow): KnownAttempt {
    const attempt = { ...row, onHost: state !== "here", requests: new Set<string>() };
    this.#attempts.set(session, attempt);
    this.#keys.set(attempt.key, session);
    return attempt;
  }

  #begin(): void {
    const { database, world, leaseMs } = this.#options;
    const { signal } = this.#leaving;
    this.#background.push(listen(database, { [REPORTS]: (key) => this.#wake(key) }, { world, signal }));
    const watch = async () => {
      while (!signal.aborted) {
        await world.sleep(Math.min(POLL_MS, leaseMs / 4), signal, true);
        if (!signal.aborted) await this.#watchHosts().catch(() => {});
        if (!signal.aborted) await this.#reportUnplaced().catch(() => {});
      }
    };
    this.#background.push(watch());
  }

  #wake(key: string): void {
    for (const wake of this.#wakers.get(key) ?? []) wake();
  }

  /** Notes every report about the attempt until `end`, so that none is missed during a query. */
  watch(key: string): AttemptWatch {
    let woken = new AbortController();
    const wake = () => woken.abort();
    const wakers = this.#wakers.get(key) ?? new Set();
    this.#wakers.set(key, wakers.add(wake));
    return {
      changed: async (signal) => {
        const signals = [woken.signal, this.#leaving.signal, ...(signal ? [signal] : [])];
        await this.#options.world.sleep(POLL_MS, AbortSignal.any(signals));
        woken = new AbortController();
      },
      end: () => {
        wakers.delete(wake);
        if (wakers.size === 0) this.#wakers.delete(key);
      },
    };
  }

  /** Ends the attempts of lost and removed hosts, and those that no host will take. */
  async #watchHosts(): Promise<void> {
    const { database, leaseMs } = this.#options;
    const lost = await database.pool.query<{ key: string }>(
      `UPDATE tutti_hosts.attempt a SET state = 'over', reason = CASE WHEN h.removed THEN 'its host was removed' ELSE 'its host was lost' END
         FROM tutti_hosts.host h
        WHERE a.state = 'held' AND h.id = a.host AND (h.removed OR h.seen_at < now() - $1 * interval '1 ms')
        RETURNING a.key`,
      [leaseMs],
    );
    await this.#findReady(database.pool);
    // Without any host the server works itself, except on tasks with labels, which are in another queue than `plain`.
    const plain = await this.#jobs.queueFor({});
    const untaken = this.#hasReadyHost
      ? { rows: [] }
      : await database.pool.query<{ key: string }>(
          `UPDATE tutti_hosts.attempt SET state = 'over', reason = 'no host is ready' WHERE state = 'waiting' AND queue = $1 RETURNING key`,
          [plain],
        );
    for (const { key } of [...lost.rows, ...untaken.rows]) {
      await this.#endJob(key);
      await this.#notify(REPORTS, key);
    }
  }

  /** `report` returns whether this server carries on the run. An attempt for which it returns true is reported once. */
  onUnplaced(report: (attempt: UnplacedAttempt) => Promise<boolean>): void {
    this.#onUnplaced = report;
  }

  async #reportUnplaced(): Promise<void> {
    const { rows } = await this.#options.database.pool.query<UnplacedAttempt>(
      `SELECT a.run, a.session, q.labels FROM tutti_hosts.attempt a JOIN tutti_hosts.queue q ON q.name = a.queue
        WHERE a.state = 'waiting' AND q.labels <> '{}' AND a.created_at < now() - $2 * interval '1 ms'
          AND NOT EXISTS (SELECT 1 FROM tutti_hosts.host WHERE host.labels @> q.labels AND ${IS_READY})`,
      [this.#options.leaseMs, UNPLACED_MS],
    );
    for (const attempt of rows) {
      if (!this.#reported.has(attempt.session) && (await this.#onUnplaced(attempt)))
        this.#reported.add(attempt.session);
    }
  }

  async #findReady(client: SqlClient): Promise<boolean> {
    const { rows } = await client.query<{ ready: number }>(
      `SELECT count(*)::int AS ready FROM tutti_hosts.host WHERE ${IS_READY}`,
      [this.#options.leaseMs],
    );
    return (this.#hasReadyHost = rows[0]!.ready > 0);
  }

  get hasReadyHost(): boolean {
    return this.#hasReadyHost;
  }

  /**
   * Places the attempts that `events` start, in the transaction that stores these. An attempt without labels stays here
   * while `#findReady` finds no host.
   */
  async extend(client: SqlClient, events: readonly StoredEvent[]): Promise<void> {
    const jobs = new Map<string, { labels: HostLabels; count: number }>();
    for (const event of events) {
      if (event.type !== "main:spawning" && event.type !== "worker:spawning") continue;
      const { sessionId, taskId, attempt } = event.data;
      const key = keyOf(event.run!, taskId, attempt);
      const labels = event.type === "worker:spawning" ? (event.data.labels ?? {}) : {};
      // Another process plays the session of a role with `OUTSIDE`, and its workspace is here.
      const isOutside = event.data.agent === OUTSIDE;
      const isWanted =
        !isOutside && (Object.keys(labels).length > 0 || ((await this.#findReady(client)) && !(await this.#isFull())));
      const job = isWanted ? { id: randomUUID(), queue: await this.#jobs.queueFor(labels) } : null;
      await client.query(
        "INSERT INTO tutti_hosts.attempt (key, run, session, task, queue, job, state) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [key, event.run, sessionId, taskId, job?.queue ?? null, job?.id ?? null, job ? "waiting" : "here"],
      );
      if (!job) continue;
      await this.#jobs.add(client, job, key);
      jobs.set(job.queue, { labels, count: (jobs.get(job.queue)?.count ?? 0) + 1 });
    }
    for (const { labels, count } of jobs.values()) await this.#announce(client, labels, count);
  }

  /**
   * `pg_notify` wakes as many hosts with room as there are jobs, at the commit. Waking all of a large fleet would cost
   * more than the jobs.
   */
  async #announce(client: SqlClient, labels: HostLabels, count: number): Promise<void> {
    await client.query(
      `SELECT pg_notify('${HOST_CHANNEL}' || id, '') FROM (
         SELECT id FROM tutti_hosts.host h WHERE ${IS_READY} AND h.labels @> $2
            AND capacity > (SELECT count(*) FROM tutti_hosts.attempt a WHERE a.host = h.id AND a.state = 'held')
          ORDER BY random() LIMIT $3) AS chosen`,
      [this.#options.leaseMs, labels, count],
    );
  }

  /** An unknown attempt belongs to an imported run and stays here, so `isPlacedOnHost` is false. */
  async isPlacedOnHost(session: string): Promise<boolean> {
    const known = this.#attempts.get(session) ?? (await this.#look(session));
    if (!known) return false;
    await this.#loadRequests(known);
    return known.onHost;
  }

  /** Another server may have placed the attempt, so it may be in `ATTEMPTS` only. */
  async #look(session: string): Promise<KnownAttempt | null> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<AttemptRow>(`${ATTEMPTS} WHERE session = $1`, [session]),
    );
    return rows[0] ? this.#remember(rows[0]) : null;
  }

  /** Always false without `alsoWork`: then all attempts wait for hosts. */
  async #isFull(): Promise<boolean> {
    if (!this.#options.alsoWork) return false;
    const hosts = await this.list();
    const room = hosts.filter(({ state }) => state === "ready").map(({ capacity, sessions }) => capacity - sessions);
    return room.every((free) => free <= 0);
  }

  async #loadRequests({ key, requests }: KnownAttempt): Promise<void> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ name: string }>("SELECT name FROM tutti_hosts.request WHERE key = $1", [key]),
    );
    for (const { name } of rows) requests.add(name);
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

  /** Sessions of `run` with an attempt that is waiting or held. */
  async openSessions(run: string): Promise<{ session: string; key: string }[]> {
    const { rows } = await this.#query(() =>
      this.#options.database.pool.query<{ session: string; key: string }>(
        "SELECT session, key FROM tutti_hosts.attempt WHERE run = $1 AND state IN ('waiting', 'held')",
        [run],
      ),
    );
    return rows;
  }

  wasCalled(key: string, name: string): boolean {
    return this.#attempts.get(this.#keys.get(key) ?? "")?.requests.has(name) ?? false;
  }

  /**
   * Sends a request to the host of the attempt and returns its reply. A repeated `name` returns the first reply. Waits for a
   * host if none has the attempt yet. Throws `host_lost` if the attempt is over, and `engine_stopped` after `leave`.
   */
  async call(key: string, name: string, body: object): Promise<unknown> {
    this.#attempts.get(this.#keys.get(key) ?? "")?.requests.add(name);
    const { pool } = this.#options.database;
    const watch = this.watch(key);
    try {
      const { rows } = await this.#query(() =>
        pool.query<{ n: number }>(
          `WITH added AS (
             INSERT INTO tutti_hosts.request (key, name, body) VALUES ($1, $2, $3)
             ON CONFLICT (key, name) DO UPDATE SET name = excluded.name RETURNING n)
           SELECT added.n, CASE WHEN attempt.host IS NOT NULL THEN pg_notify('${HOST_CHANNEL}' || attempt.host, $1) END
             FROM added, tutti_hosts.attempt WHERE attempt.key = $1`,
          [key, name, JSON.stringify(body)],
        ),
      );
      for (;;) {
        const found = await this.#query(() =>
          pool.query<{ reply: string | null; state: string; reason: string | null }>(
            `SELECT r.reply, a.state, a.reason FROM tutti_hosts.request r JOIN tutti_hosts.attempt a USING (key) WHERE r.n = $1`,
            [rows[0]!.n],
          ),
        );
        const { reply = null, state = "over", reason = null } = found.rows[0] ?? {};
        if (reply !== null) return decodeReply(JSON.parse(reply) as Reply);
        if (state === "over") throw hostLost(reason);
        await watch.changed();
      }
    } finally {
      watch.end();
    }
  }

  /** Reads the signals after the position `after`. `over` is the reason if the attempt is over. */
  async signals(key: string, after: number): Promise<{ rows: { at: number; body: string }[]; over: string | null }> {
    return this.#query(async () => {
      // One statement reads state and signals, so that all signals of an attempt that is over are seen.
      const { rows } = await this.#options.database.pool.query<SignalRow>(
        `SELECT a.state, a.reason, s.at, s.body FROM tutti_hosts.attempt a LEFT JOIN LATERAL (
           SELECT at, body FROM tutti_hosts.signal WHERE key = a.key AND at > $2 ORDER BY at LIMIT 500) s ON true
          WHERE a.key = $1 ORDER BY s.at`,
        [key, after],
      );
      const found = rows[0];
      const over = found && found.state !== "over" ? null : (found?.reason ?? "its session was removed");
      return { rows: rows.flatMap(({ at, body }) => (at === null ? [] : [{ at, body: body! }])), over };
    });
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
  async finish(key: string, reason: string): Promise<void> {
    await this.#query(() =>
      this.#options.database.pool.query(
        "UPDATE tutti_hosts.attempt SET state = 'over', reason = coalesce(reason, $2) WHERE key = $1 AND state <> 'here'",
        [key, reason],
      ),
    );
    await this.#endJob(key);
    await this.#notify(REPORTS, key);
  }

  /** Returns false if a host has taken the attempt. */
  async withdraw(key: string): Promise<boolean> {
    const { rowCount } = await this.#query(() =>
      this.#options.database.pool.query(
        "UPDATE tutti_hosts.attempt SET state = 'over', reason = 'it was stopped' WHERE key = $1 AND state = 'waiting'",
        [key],
      ),
    );
    if (rowCount === 0) return false;
    await this.#endJob(key);
    await this.#notify(REPORTS, key);
    return true;
  }

  async #endJob(key: string): Promise<void> {
    const { rows } = await this.#options.database.pool.query<{ queue: string | null; job: string | null }>(
      "SELECT queue, job FROM tutti_hosts.attempt WHERE key = $1",
      [key],
    );
    const { queue = null, job = null } = rows[0] ?? {};
    if (queue !== null && job !== null) await this.#jobs.end({ queue, id: job });
  }

  async archive(session: string): Promise<void> {
    const known = this.#attempts.get(session)!;
    await this.#query(() =>
      this.#options.database.pool.query("UPDATE tutti_hosts.attempt SET archived = true WHERE key = $1", [known.key]),
    );
    known.archived = true;
  }

  async forget(run: string): Promise<void> {
    await this.#query(() => this.#options.database.pool.query("DELETE FROM tutti_hosts.attempt WHERE run = $1", [run]));
    for (const [session, attempt] of this.#attempts) {
      if (attempt.run !== run) continue;
      this.#attempts.delete(session);
      this.#keys.delete(attempt.key);
    }
  }

  list(): Promise<HostRow[]> {
    return listHosts(this.#options.database, this.#options.leaseMs);
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

  #notify(channel: string, payload: string): Promise<unknown> {
    return this.#options.database.pool.query("SELECT pg_notify($1, $2)", [channel, payload]).catch(() => {});
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
  }

  async close(): Promise<void> {
    this.leave();
    await Promise.all(this.#background);
    await this.#jobs.close();
    await this.#options.database.close();
  }
}

export async function createHostTables(database: Database): Promise<void> {
  await database.transaction("create the tables of hosts", async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const { rows } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'tutti_hosts'");
    if (rows.length === 0) await client.query(`CREATE SCHEMA tutti_hosts; ${HOST_TABLES}`);
    await client.query(HOST_FUNCTIONS_SQL);
  });
}

/** Creates the tables for a worker that starts before its server, if its login has the privilege `CREATE`. */
export async function provideHostTables(database: Database): Promise<void> {
  const { rows } = await database.pool.query<{ isMissing: boolean }>(
    `SELECT to_regnamespace('tutti_hosts') IS NULL AND has_database_privilege(current_database(), 'CREATE') AS "isMissing"`,
  );
  if (rows[0]!.isMissing) await createHostTables(database);
}

export async function listHosts({ pool }: Database, leaseMs?: number): Promise<HostRow[]> {
  const { rows } = await pool.query<Omit<HostRow, "seenAt"> & { seenAt: Date | null }>(
    `SELECT h.id, h.name, h.labels, h.capacity, h.version, h.seen_at AS "seenAt", h.facts->'agents' AS agents,
            CASE WHEN h.seen_at IS NULL OR h.seen_at < now() - coalesce($1, s.lease_ms) * interval '1 ms' THEN 'lost'
                 WHEN h.drained OR h.leaving THEN 'draining' ELSE 'ready' END AS state,
            coalesce(held.tasks, '[]') AS tasks, coalesce(held.sessions, 0) AS sessions
       FROM tutti_hosts.host h CROSS JOIN tutti_hosts.setting s LEFT JOIN LATERAL (
              SELECT count(*)::int AS sessions, json_agg(a.task ORDER BY a.key) FILTER (WHERE a.task IS NOT NULL) AS tasks
                FROM tutti_hosts.attempt a WHERE a.host = h.id AND a.state = 'held') held ON true
      WHERE NOT h.removed ORDER BY h.name, h.id`,
    [leaseMs ?? null],
  );
  return rows.map(({ seenAt, agents, ...row }) => ({
    ...row,
    agents: agents ?? [],
    seenAt: seenAt === null ? null : seenAt.toISOString(),
  }));
}

function decodeReply(reply: Reply): unknown {
  if ("ok" in reply) return reply.ok;
  const { code, message, details } = reply.error;
  throw new TuttiError(code, message, { details });
}

const hostLost = (reason: string | null): TuttiError =>
  new TuttiError("host_lost", reason ?? "The host of the session was lost.");

const engineStopped = (): TuttiError =>
  new TuttiError("engine_stopped", "The server is ending. The session continues on its host.");
