// Stores the log in PostgreSQL, for several servers at once. Reads come from a `Replica` in the data folder.
//
// Invariants
// 1. Every write locks the row of `tutti.log` first. So `seq` has no gap, and events are committed in its order.
// 2. A run is written by one server only, which `tutti.runs` names. Another server's append fails with `run_moved`.
// 3. An append resolves after the replica contains it, and after `LogFollower` received every earlier event of others.
// 4. A server with a `beat` that stays the same is gone. Another one takes over its runs, and it finds out when it is
//    back.
// 5. A lost connection fails no append: the write is repeated, unless `tutti.servers.batch` shows that it was
//    committed.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, type Database } from "./database.ts";
import { databaseError, isConnectionLoss } from "./database-error.ts";
import { DatabaseListener } from "./database-listener.ts";
import {
  allSettled,
  beginEpoch,
  callOf,
  CHANNEL,
  insertEvents,
  isStale,
  knownAppend,
  lockedAppend,
  lockLog,
  NOW,
  removeRun,
  type RunPosition,
  type SqlCall,
} from "./log-statements.ts";
import { migrateDatabase } from "./migrate.ts";
import { Replica, type Removal } from "./replica.ts";
import { ANSWER_CHANNEL, REQUEST_CHANNEL, RequestBox } from "./request-box.ts";
import { BEAT_MS, hasLeft, ServerWatch, type ServerBeat } from "./server-watch.ts";
import type { SqlClient } from "./sql-client.ts";
import type { Snapshots } from "../snapshots.ts";
import { toEvent, type EventRow } from "../sqlite.ts";
import {
  encodeData,
  eventsOf,
  outOfPlace,
  staleEpoch,
  storeClosed,
  type EventBatch,
  type EventQuery,
  type LogFollower,
  type NewEvent,
  type SharedLog,
  type Store,
} from "../store.ts";
import { TuttiError } from "../../schema/error.ts";
import type { RawEvent, StoredEvent } from "../../schema/event.ts";
import { EVENT_VERSION } from "../../schema/upcast.ts";

/** A function of the database that an append calls in its own transaction, so that both are committed, or neither. */
export interface AppendedCall extends SqlCall {
  /** Receives the returned value, before the append resolves. Not called if the connection was lost after the commit. */
  returned(value: unknown): void;
}

/** Called with the events of every append, and again if its transaction has to be repeated. */
type AppendExtension = (events: readonly StoredEvent[]) => Promise<AppendedCall | null>;

interface PostgresOptions {
  url: string;
  /** Path of the `Replica`, which also identifies this server. */
  replica: string;
}

/** Throws `usage`, `packages_missing`, `database_unreachable` or `database_refused`; see `openDatabase`. */
export async function openPostgresStore({ url, replica: file }: PostgresOptions): Promise<PostgresStore> {
  const database = await openDatabase({ url });
  try {
    await migrateDatabase(database);
    return await PostgresStore.open(database, file);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A `PendingWrite` waits for the next transaction. */
interface PendingWrite {
  run: string;
  /** The position after which an append writes. Undefined for a removal. */
  expected?: number;
  /** Writes into `draft`, and returns a callback that answers the caller after the commit. */
  write(draft: Draft): () => void;
  reject(error: unknown): void;
}

/** A `Draft` collects the changes of one transaction. */
interface Draft {
  seq: number;
  runs: Map<string, RunPosition>;
  events: EventRow[];
  stored: StoredEvent[];
  removals: Removal[];
  nextRemoval: number;
}

/** A `SentBatch` is a transaction that was sent. `answers` are called once it is known to be committed. */
interface SentBatch {
  number: number;
  writes: PendingWrite[];
  draft: Draft | null;
  answers: (() => void)[];
}

const PAGE = 500;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2000;

export class PostgresStore implements Store, SharedLog {
  readonly shared = this;
  readonly epoch: number;
  readonly server: string;
  readonly database: Database;
  readonly requests: RequestBox;
  readonly #replica: Replica;
  #owned = new Set<string>();
  readonly #watch = new ServerWatch();
  #observedAt = 0;
  #follower: LogFollower | null = null;
  #extension: AppendExtension | null = null;
  #pending: PendingWrite[] = [];
  #working: Promise<void> | null = null;
  /** `#known` is the newest position that a notification named. */
  #known = { seq: 0, removals: 0 };
  #batch = 0;
  #listener: DatabaseListener | null = null;
  #nextBeat: NodeJS.Timeout | null = null;
  #beating: Promise<void> | null = null;
  #broken: TuttiError | null = null;
  #closing = false;

  private constructor(database: Database, replica: Replica, server: string, epoch: number) {
    this.database = database;
    this.#replica = replica;
    this.server = server;
    this.epoch = epoch;
    this.requests = new RequestBox(database, server);
  }

  /** Begins a new epoch for this server, so an older `PostgresStore` of the same folder can no longer write. */
  static async open(database: Database, file: string): Promise<PostgresStore> {
    let replica = new Replica(file);
    try {
      const { rows } = await database.pool.query<{ id: string; seq: number }>("SELECT id, seq FROM tutti.log");
      const { id, seq } = rows[0]!;
      const server = replica.server ?? randomUUID();
      // A database that was restored from a backup may lack events that the `replica` has.
      if ((replica.database !== null && replica.database !== id) || replica.reader.lastSeq() > seq) {
        replica.delete();
        replica = new Replica(file);
      }
      replica.belongTo(server, id);
      const epoch = await beginEpoch(database, server);
      const store = new PostgresStore(database, replica, server, epoch);
      await store.#begin();
      return store;
    } catch (error) {
      replica.close();
      throw databaseError(error, database.place, "open the log");
    }
  }

  async #begin(): Promise<void> {
    await this.#catchUp();
    await this.#readOwned();
    this.#listener = await DatabaseListener.open({
      database: this.database,
      channels: {
        [CHANNEL]: (payload) => this.#noticed(payload),
        [REQUEST_CHANNEL]: (asked) => {
          if (asked === this.server) this.requests.look();
        },
        [ANSWER_CHANNEL]: (id) => this.requests.answered(id),
      },
      connected: () => this.#beat(),
    });
  }

  get snapshots(): Snapshots {
    return this.#replica.snapshots;
  }

  /** From now on, `extension` commits its own writes together with each append. */
  extendAppends(extension: AppendExtension): void {
    this.#extension = extension;
  }

  append(run: string | null, expected: number, batch: EventBatch): Promise<StoredEvent[]> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredEvent[]>();
    const name = run ?? "";
    let known: { events: readonly NewEvent[]; encoded: string[] } | null = null;
    const write = (draft: Draft): (() => void) => {
      const row = draft.runs.get(name) ?? { run: name, last: 0, server: this.server };
      if (name !== "" && row.server !== this.server) return () => reject(this.#moved(name));
      if (row.last !== expected) return () => reject(outOfPlace(name, expected));
      if (known === null) {
        // `batch` is a function with effects, so a repeated transaction must not call it again.
        const events = eventsOf(batch);
        const encoded = encodeData(events);
        if (encoded instanceof TuttiError) return () => reject(encoded);
        known = { events, encoded };
      }
      const stored = draftEvents(draft, row, known.events, known.encoded);
      return () => {
        if (name !== "" && stored.length > 0) this.#owned.add(name);
        resolve(stored);
      };
    };
    this.#enqueue({ run: name, expected, write, reject });
    return promise;
  }

  remove(run: string, { timestamp }: { timestamp: number }): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const write = (draft: Draft): (() => void) => {
      const row = draft.runs.get(run);
      if (run === "" || row === undefined) return resolve;
      if (row.server !== this.server) return () => reject(this.#moved(run));
      draft.removals.push({ n: draft.nextRemoval++, run, at: timestamp, seq: draft.seq });
      draft.runs.delete(run);
      return () => {
        this.#owned.delete(run);
        resolve();
      };
    };
    this.#enqueue({ run, write, reject });
    return promise;
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
  }

  owns(run: string): boolean {
    return this.#owned.has(run);
  }

  #moved(run: string): TuttiError {
    return new TuttiError("run_moved", `Run "${run}" is carried on by another server. Repeat the command.`);
  }

  #enqueue(write: PendingWrite): void {
    if (this.#broken) return write.reject(this.#broken);
    this.#pending.push(write);
    this.#wake();
  }

  #wake(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      if (this.#pending.length > 0) this.#wake();
    });
  }

  /** Commits and catches up, one after the other, so that the replica grows in the order of `seq`. */
  async #work(): Promise<void> {
    while (this.#pending.length > 0 || this.#isBehind()) {
      if (this.#pending.length > 0) await this.#commit();
      else await this.#persist(() => this.#catchUp()).catch(() => {});
    }
  }

  #isBehind(): boolean {
    const { seq, removals } = this.#known;
    return !this.#closing && (seq > this.#replica.lastSeq || removals > this.#replica.removals);
  }

  async #commit(): Promise<void> {
    const sent: SentBatch = { number: ++this.#batch, writes: [], draft: null, answers: [] };
    try {
      await this.#persist(async () => (await this.#sendKnown(sent)) || this.#send(sent));
      this.#replica.extend(sent.draft!.events, sent.draft!.removals);
    } catch (error) {
      const failure = databaseError(error, this.database.place, "write events");
      // The `#replica` may lack events that are committed, so nothing more may be written or read from it.
      if (failure.code !== "disk_full") this.#broken ??= failure;
      const writes = sent.writes.length > 0 ? sent.writes : this.#takePending();
      for (const write of writes) write.reject(failure);
      return;
    }
    for (const answer of sent.answers) answer();
  }

  /** Takes the writes to `runs`, or all of them. The others wait for the next transaction. */
  #takePending(runs?: ReadonlySet<string>): PendingWrite[] {
    const writes = this.#pending.filter(({ run }) => runs?.has(run) ?? true);
    this.#pending = this.#pending.filter(({ run }) => runs && !runs.has(run));
    return writes;
  }

  /** Repeats `work` until the database answers, but not while the store closes. */
  async #persist<T>(work: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        if (this.#closing || !isConnectionLoss(error)) throw error;
        await sleep(wait);
      }
    }
  }

  /**
   * Appends in one exchange with the state that this server knows. Returns false if that is not enough, or no longer true:
   * then nothing was written, and `#send` reads the state first.
   */
  async #sendKnown(sent: SentBatch): Promise<boolean> {
    // A repeated transaction may have been committed.
    if (sent.draft !== null) return false;
    if (sent.writes.length === 0) {
      if (!this.#pending.every((write) => this.#isKnown(write))) return false;
      sent.writes = this.#takePending();
    } else if (!sent.writes.every((write) => this.#isKnown(write))) return false;
    const seq = this.#replica.lastSeq;
    const expected = new Map<string, number>();
    for (const write of sent.writes) if (!expected.has(write.run)) expected.set(write.run, write.expected!);
    const runs = new Map([...expected].map(([run, last]) => [run, { run, last, server: this.server }]));
    const draft: Draft = { seq, runs, events: [], stored: [], removals: [], nextRemoval: 1 + this.#replica.removals };
    sent.answers = sent.writes.map((each) => each.write(draft));
    if (draft.events.length === 0) {
      sent.draft = draft;
      return true;
    }
    const call = (await this.#extension?.(draft.stored)) ?? null;
    const touched = [...runs.values()];
    // From here on the events may be stored with the positions of `draft`.
    sent.draft = draft;
    const client = await this.database.pool.connect();
    let isClean = false;
    try {
      const { rows } = await client.query<{ value: unknown }>(
        knownAppend(
          {
            server: this.server,
            epoch: this.epoch,
            batch: sent.number,
            after: seq,
            expected: touched.map(({ run }) => expected.get(run)!),
            events: draft.events,
            runs: touched,
            notification: `${draft.seq} ${this.#replica.removals}`,
          },
          call,
        ),
      );
      isClean = true;
      call?.returned(rows[0]!.value);
      return true;
    } catch (error) {
      if (!isStale(error)) throw error;
      isClean = true;
      sent.draft = null;
      return false;
    } finally {
      // After another error the connection may be broken.
      client.release(!isClean);
    }
  }

  /** Whether the position of the run is known: no other server writes to it. */
  #isKnown({ run, expected }: PendingWrite): boolean {
    return run !== "" && expected !== undefined && (expected === 0 || this.#owned.has(run));
  }

  async #send(sent: SentBatch): Promise<void> {
    const client = await this.database.pool.connect();
    let isClean = false;
    try {
      const runs = [...new Set((sent.writes.length > 0 ? sent.writes : this.#pending).map(({ run }) => run))];
      const state = await lockLog(client, { begin: true, server: this.server, runs });
      // The batch closes when `lockLog` returns, so writes that arrive while it waits share the transaction.
      if (sent.writes.length === 0) sent.writes = this.#takePending(state.asked);
      const { seq, epoch, batch, removals } = state;
      if (epoch !== this.epoch) throw staleEpoch();
      if (batch === sent.number && sent.draft !== null) {
        await client.query("ROLLBACK");
        isClean = true;
        return;
      }
      // Events of other servers come first. They are committed, so they stay valid if this transaction fails.
      if (this.#replica.lastSeq < seq || this.#replica.removals < removals) await this.#catchUp(client);
      const draft: Draft = { seq, runs: state.runs, events: [], stored: [], removals: [], nextRemoval: removals + 1 };
      sent.answers = sent.writes.map((each) => each.write(draft));
      const inserted = await this.#insert(client, draft, sent.number);
      sent.draft = draft;
      // All statements are sent before the first one is answered. After a failed one, COMMIT rolls back.
      await allSettled([...inserted, client.query("COMMIT")]);
      isClean = true;
    } finally {
      // Unless `isClean`, the connection is destroyed, which rolls its transaction back.
      client.release(!isClean);
    }
  }

  /** Resolves to the statements when they are sent. */
  async #insert(client: SqlClient, draft: Draft, batch: number): Promise<readonly Promise<unknown>[]> {
    const { events, stored, removals, runs, seq } = draft;
    if (events.length === 0 && removals.length === 0) return [];
    let next = 0;
    for (const removal of removals) {
      const end = events.findIndex((event) => event.seq > removal.seq);
      const first = events.slice(next, end === -1 ? events.length : end);
      if (first.length > 0) await insertEvents(client, first);
      next += first.length;
      await removeRun(client, removal);
    }
    const touched = [...new Set(events.map(({ run }) => run))].flatMap((run) => runs.get(run) ?? []);
    const append = {
      server: this.server,
      batch,
      events: events.slice(next),
      runs: touched,
      notification: `${seq} ${draft.nextRemoval - 1}`,
    };
    const appended = client.query(lockedAppend(append, seq));
    // `#send` awaits it with the statements after it.
    appended.catch(() => {});
    const call = stored.length > 0 && (await this.#extension?.(stored));
    if (!call) return [appended];
    const called = client
      .query<{ value: unknown }>(`SELECT ${callOf(call, 0)} AS value`, call.values)
      .then(({ rows }) => call.returned(rows[0]!.value));
    return [appended, called];
  }

  async #catchUp(client: SqlClient = this.database.pool): Promise<void> {
    for (;;) {
      const events = await client.query<EventRow>("SELECT * FROM tutti.events WHERE seq > $1 ORDER BY seq LIMIT $2", [
        this.#replica.lastSeq,
        PAGE,
      ]);
      const removals = await client.query<Removal>("SELECT * FROM tutti.removals WHERE n > $1 ORDER BY n", [
        this.#replica.removals,
      ]);
      if (events.rows.length > 0 || removals.rows.length > 0) this.#copy(events.rows, removals.rows);
      if (events.rows.length < PAGE) return;
    }
  }

  #copy(events: readonly EventRow[], removals: readonly Removal[]): void {
    this.#replica.extend(events, removals);
    for (const { run } of removals) this.#follower?.removed(run);
    if (this.#follower && events.length > 0) this.#follower.appended(events.map(toEvent));
  }

  #noticed(payload: string): void {
    const [seq = 0, removals = 0] = payload.split(" ").map(Number);
    this.#known = { seq: Math.max(seq, this.#known.seq), removals: Math.max(removals, this.#known.removals) };
    if (this.#isBehind()) this.#wake();
  }

  /** Shows the other servers that this one lives, finds those that are gone, and finds missed notifications. */
  #beat(): void {
    if (this.#nextBeat) clearTimeout(this.#nextBeat);
    this.#beating ??= this.#observe()
      .catch(() => {})
      .finally(() => {
        this.#beating = null;
        if (!this.#closing && !this.#broken) this.#nextBeat = setTimeout(() => this.#beat(), BEAT_MS).unref();
      });
  }

  async #observe(): Promise<void> {
    const { rows } = await this.database.pool.query<{ previous: number | null; beats: ServerBeat[]; known: string }>(
      `WITH own AS (SELECT id, beat FROM tutti.servers WHERE id = $1 AND epoch = $2),
            beaten AS (UPDATE tutti.servers s SET beat = ${NOW} FROM own WHERE s.id = own.id)
       SELECT (SELECT beat FROM own) AS previous,
              (SELECT coalesce(json_agg(json_build_object('id', id, 'beat', beat)), '[]')
               FROM tutti.servers WHERE id <> $1) AS beats,
              (SELECT seq FROM tutti.log) || ' ' || (SELECT coalesce(max(n), 0) FROM tutti.removals) AS known`,
      [this.server, this.epoch],
    );
    const { previous, beats, known } = rows[0]!;
    this.#noticed(known);
    this.requests.look();
    if (previous !== null && hasLeft(previous)) await this.#readOwned();
    // A reconnect beats at once, before `BEAT_MS` have passed. As an observation of the others that would be too early.
    const now = performance.now();
    if (now - this.#observedAt < BEAT_MS) return;
    this.#observedAt = now;
    const gone = this.#watch.observe(beats);
    if (gone.length > 0 && previous !== null) await this.#takeOver(gone);
  }

  async #takeOver(gone: readonly ServerBeat[]): Promise<void> {
    const { rows } = await this.database.pool.query<{ server: string }>(
      "SELECT DISTINCT server FROM tutti.runs WHERE server = ANY($1)",
      [gone.map(({ id }) => id)],
    );
    for (const { id, beat } of gone) {
      if (!rows.some(({ server }) => server === id)) continue;
      let end = 0;
      const gained = await this.database.transaction("take over runs", async (client) => {
        end = (await lockLog(client)).seq;
        const marked = await client.query(`UPDATE tutti.servers SET beat = -${NOW} WHERE id = $1 AND beat = $2`, [
          id,
          beat,
        ]);
        // The `beat` has changed: the server is alive after all.
        if (marked.rowCount === 0) return [];
        const moved = await client.query<{ run: string }>(
          "UPDATE tutti.runs SET server = $2 WHERE server = $1 RETURNING run",
          [id, this.server],
        );
        return moved.rows.map(({ run }) => run);
      });
      // `end` is after the last events of the server that is gone. They must come before `gained`.
      this.#noticed(String(end));
      while (this.#isBehind()) {
        this.#wake();
        await this.#working;
      }
      for (const run of gained) this.#owned.add(run);
      if (gained.length > 0) this.#follower?.gained(gained);
    }
  }

  /** Reads the runs of this server, and reports those that it has lost to the `LogFollower`. */
  async #readOwned(): Promise<void> {
    const { rows } = await this.database.pool.query<{ run: string }>("SELECT run FROM tutti.runs WHERE server = $1", [
      this.server,
    ]);
    const owned = new Set(rows.map(({ run }) => run));
    const lost = [...this.#owned].filter((run) => !owned.has(run));
    this.#owned = owned;
    if (lost.length > 0) this.#follower?.lost(lost);
  }

  read(options: EventQuery): StoredEvent[] {
    return this.#replica.reader.read(options);
  }

  readRaw(options: EventQuery): RawEvent[] {
    return this.#replica.reader.readRaw(options);
  }

  runs(): string[] {
    return this.#replica.reader.runs();
  }

  lastSeq(): number {
    return this.#replica.lastSeq;
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#nextBeat) clearTimeout(this.#nextBeat);
    await this.#beating;
    while (this.#working) await this.#working;
    this.#broken = storeClosed();
    await this.#listener?.close();
    await this.database.pool
      .query(`UPDATE tutti.servers SET beat = -${NOW} WHERE id = $1 AND epoch = $2`, [this.server, this.epoch])
      .catch(() => {});
    await this.database.close();
    this.#replica.close();
  }
}

function draftEvents(
  draft: Draft,
  row: RunPosition,
  events: readonly NewEvent[],
  encoded: readonly string[],
): StoredEvent[] {
  const run = row.run;
  const stored = events.map((event, i) => {
    const seq = (draft.seq += 1);
    const runSeq = row.last + i + 1;
    const { type, timestamp: at } = event;
    draft.events.push({ seq, run, run_seq: runSeq, type, data: encoded[i]!, at, version: EVENT_VERSION });
    return { ...event, seq, run: run || null, runSeq };
  });
  if (stored.length > 0) draft.runs.set(run, { ...row, last: row.last + stored.length });
  draft.stored.push(...stored);
  return stored;
}
