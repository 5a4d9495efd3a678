// `SqliteStore` keeps the log in one SQLite file. Appends made in the same turn of the event loop share one commit, so
// durability costs one fsync regardless of the number of active runs.
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { checkFormat, migrate } from "./migrate.ts";
import type { StateSnapshot, Snapshots } from "./snapshots.ts";
import {
  encodeData,
  eventsOf,
  outOfPlace,
  REMOVED,
  removedEvent,
  staleEpoch,
  storeClosed,
  type EventBatch,
  type EventQuery,
  type LogReader,
  type NewEvent,
  type Store,
} from "./store.ts";
import { environmentFault } from "../environment-fault.ts";
import { TuttiError } from "../schema/error.ts";
import { encodeStored, type RawEvent, type StoredEvent } from "../schema/event.ts";
import { EVENT_VERSION, readData } from "../schema/upcast.ts";

/** `write` runs inside the transaction and returns a callback that runs after the commit. */
interface Pending {
  write(): () => void;
  reject(error: unknown): void;
}

export interface EventRow {
  seq: number;
  run: string;
  run_seq: number;
  type: string;
  data: string;
  at: number;
  /** `version` is missing in a file of format 1 that is open for reading only. */
  version?: number;
}

interface Answer<T> {
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
}

interface SqliteOptions {
  /** In bytes. A write beyond `maxBytes` fails with `disk_full`. */
  maxBytes?: number;
}

export function openSqliteStore(file: string, options: SqliteOptions = {}): Store & { snapshots: Snapshots } {
  return new SqliteStore(file, options);
}

/** Unlike `openSqliteStore`, takes no epoch and blocks no writer. A file without tables reads as empty. */
export function openSqliteReader(file: string): LogReader & { snapshots: Snapshots | null; close(): void } {
  const db = attempt(`open ${file}`, file, () => new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS }));
  const version = attempt(`read ${file}`, file, () => readVersion(db, file));
  const snapshots = version >= FIRST_WITH_SNAPSHOTS ? snapshotsOf(db, () => {}) : null;
  const reader = version > 0 ? readerOf(db) : { read: () => [], readRaw: () => [], runs: () => [], lastSeq: () => 0 };
  return { ...reader, snapshots, close: () => db.close() };
}

/**
 * Returns 0 for `SQLITE_READONLY_ROLLBACK`: a writer that died while creating the file leaves a journal that only a
 * writer can roll back. No event is stored by then.
 */
function readVersion(db: DatabaseSync, file: string): number {
  try {
    return checkFormat(db, file);
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_READONLY_ROLLBACK) return 0;
    throw error;
  }
}

class SqliteStore implements Store {
  readonly epoch: number;
  readonly #db: DatabaseSync;
  readonly #reader: LogReader;
  readonly #insert: StatementSync;
  readonly #lastOfRun: StatementSync;
  readonly #empty: StatementSync;
  readonly #currentEpoch: StatementSync;
  #pending: Pending[] = [];
  /** Set if a failed commit leaves the state of the disk unknown. All further writes are rejected. */
  #broken: TuttiError | null = null;
  #flush: NodeJS.Immediate | null = null;
  readonly snapshots: Snapshots;

  readonly #file: string;

  constructor(file: string, { maxBytes }: SqliteOptions) {
    this.#file = file;
    this.#db = attempt(`open ${file}`, file, () => new DatabaseSync(file));
    this.epoch = attempt(`open ${file}`, file, () => {
      chmodSync(file, 0o600);
      // FULL syncs each commit to disk. WAL lets readers read during a write.
      this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${BUSY_MS};`);
      this.#db.exec("PRAGMA secure_delete = ON");
      if (maxBytes !== undefined) this.#db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)}`);
      migrate(this.#db, file);
      this.#db.exec("BEGIN IMMEDIATE; UPDATE writer SET epoch = epoch + 1; COMMIT;");
      return this.#db.prepare("SELECT epoch FROM writer").get()!["epoch"] as number;
    });
    this.#reader = readerOf(this.#db);
    this.snapshots = snapshotsOf(this.#db, (write) => {
      this.#enqueue<void>(({ resolve }) => {
        write();
        return resolve;
      }).catch(() => {});
    });
    this.#currentEpoch = this.#db.prepare("SELECT epoch FROM writer");
    this.#insert = this.#db.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#lastOfRun = this.#db.prepare(QUERIES.lastOfRun);
    // A removed event belongs to no run. The negative `seq` keeps (run, run_seq) unique.
    this.#empty = this.#db.prepare(
      "UPDATE events SET run = '', run_seq = -seq, type = ?, data = '{}', at = ? WHERE run = ? AND run <> ''",
    );
  }

  append(run: string | null, expected: number, batch: EventBatch): Promise<StoredEvent[]> {
    return this.#enqueue(({ resolve, reject }) => {
      const last = (this.#lastOfRun.get(run ?? "")?.["last"] as number | null) ?? 0;
      if (last !== expected) return () => reject(outOfPlace(run ?? "", expected));
      const events = eventsOf(batch);
      const encoded = encodeData(events);
      // Other appends share the transaction, so an event without a JSON form must fail alone.
      if (encoded instanceof TuttiError) return () => reject(encoded);
      const stored = this.#write(run, expected, events, encoded);
      return () => resolve(stored);
    });
  }

  remove(run: string, { timestamp }: { timestamp: number }): Promise<void> {
    return this.#enqueue<void>(({ resolve }) => {
      this.#empty.run(REMOVED, timestamp, run);
      this.#db.prepare("DELETE FROM snapshots WHERE run = ?").run(run);
      return resolve;
    });
  }

  /** Writes run in call order. Those in `#pending` share one transaction. */
  #enqueue<T>(write: (answer: Answer<T>) => () => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.push({ write: () => write({ resolve, reject }), reject });
    this.#flush ??= setImmediate(() => this.#commit());
    return promise;
  }

  #commit(): void {
    this.#flush = null;
    const batch = this.#pending;
    this.#pending = [];
    if (batch.length === 0) return;
    let answers: (() => void)[] = [];
    try {
      if (this.#broken) throw this.#broken;
      this.#transaction(() => {
        this.#checkEpoch();
        answers = batch.map((pending) => pending.write());
      });
    } catch (error) {
      for (const pending of batch) pending.reject(error);
      return;
    }
    for (const answer of answers) answer();
  }

  #write(run: string | null, expected: number, events: readonly NewEvent[], encoded: readonly string[]): StoredEvent[] {
    let seq = this.lastSeq();
    let runSeq = expected;
    return events.map((event, i) => {
      seq += 1;
      runSeq += 1;
      this.#insert.run(seq, run ?? "", runSeq, event.type, encoded[i]!, event.timestamp, EVENT_VERSION);
      return { ...event, seq, run: run || null, runSeq };
    });
  }

  #checkEpoch(): void {
    const epoch = this.#currentEpoch.get()!["epoch"] as number;
    if (epoch !== this.epoch) throw staleEpoch();
  }

  #transaction(work: () => void): void {
    attempt("begin a transaction", this.#file, () => this.#db.exec("BEGIN IMMEDIATE"));
    try {
      attempt("write events", this.#file, work);
      this.#commitTransaction();
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** A retry after a failed commit could store events twice. `disk_full` is the exception: nothing was written. */
  #commitTransaction(): void {
    try {
      attempt("commit", this.#file, () => this.#db.exec("COMMIT"));
    } catch (error) {
      if (error instanceof TuttiError && error.code !== "disk_full") this.#broken = error;
      throw error;
    }
  }

  read(options: EventQuery): StoredEvent[] {
    return this.#reader.read(options);
  }

  readRaw(options: EventQuery): RawEvent[] {
    return this.#reader.readRaw(options);
  }

  runs(): string[] {
    return this.#reader.runs();
  }

  lastSeq(): number {
    return this.#reader.lastSeq();
  }

  async close(): Promise<void> {
    if (this.#flush) clearImmediate(this.#flush);
    this.#commit();
    this.#broken = storeClosed();
    if (this.#db.isOpen) this.#db.close();
  }
}

/** Every bound is a bound of the index that the query uses, so no row is read in vain. Removed events have no `run`. */
export const QUERIES = {
  all: "SELECT * FROM events WHERE seq > ? AND seq < ? ORDER BY seq",
  ofRun: "SELECT * FROM events WHERE run = ? AND run_seq > ? AND run_seq < ? ORDER BY run_seq",
  seqAt: "SELECT seq FROM events WHERE run = ? AND run_seq = ?",
  lastOfRun: "SELECT max(run_seq) AS last FROM events WHERE run = ? AND run_seq > 0",
};

export function readerOf(db: DatabaseSync): LogReader {
  const last = db.prepare("SELECT max(seq) AS last FROM events");
  const rows = (
    query: string,
    { before, limit = -1, maxBytes }: EventQuery,
    ...bounds: (string | number)[]
  ): EventRow[] => {
    const way = before === undefined ? "" : "DESC";
    const statement = db.prepare(`${query} ${way} LIMIT ?`);
    const found =
      maxBytes === undefined
        ? (statement.all(...bounds, limit) as unknown as EventRow[])
        : takeBytes(statement.iterate(...bounds, limit) as unknown as Iterable<EventRow>, maxBytes);
    return before === undefined ? found : found.toReversed();
  };
  /** Counts the run's events up to `seq`. `seq` and `run_seq` grow together, so a binary search finds it. */
  const countUpTo = (run: string, seq: number): number => {
    const seqAt = db.prepare(QUERIES.seqAt);
    let low = 0;
    let high = (db.prepare(QUERIES.lastOfRun).get(run)?.["last"] as number | null) ?? 0;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      // A missing row means that the run was removed meanwhile; the caller of `countUpTo` then reads no events.
      const found = (seqAt.get(run, middle)?.["seq"] as number | undefined) ?? seq;
      if (found <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const select = (options: EventQuery): EventRow[] => {
    const { run, after = 0, before = END } = options;
    if (run === undefined) return rows(QUERIES.all, options, after, before);
    const of = run ?? "";
    const first = after > 0 ? countUpTo(of, after) : 0;
    const next = before < END ? countUpTo(of, before - 1) + 1 : END;
    return rows(QUERIES.ofRun, options, of, first, next);
  };
  return {
    read: (options) => select(options).map(toEvent),
    readRaw: (options) => select(options).map(toRaw),
    runs() {
      const rows = db.prepare("SELECT run FROM events WHERE run_seq = 1 AND run <> '' ORDER BY seq").all();
      return rows.map((row) => row["run"] as string);
    },
    lastSeq: () => (last.get()?.["last"] as number | null) ?? 0,
  };
}

/** `later` puts a save into the next transaction. It drops the snapshot of a run that was removed meanwhile. */
export function snapshotsOf(db: DatabaseSync, later: (write: () => void) => void): Snapshots {
  const columns = "run, run_seq AS runSeq, seq, fold, over, summary";
  const from = (row: Record<string, unknown>) => ({ ...row, over: row["over"] === 1 });
  return {
    load(run) {
      const row = db.prepare(`SELECT ${columns}, state FROM snapshots WHERE run = ?`).get(run);
      return row ? (from(row) as unknown as StateSnapshot) : null;
    },
    overview: () => db.prepare(`SELECT ${columns} FROM snapshots`).all().map(from) as ReturnType<Snapshots["overview"]>,
    save(run, snapshot) {
      later(() => {
        const { runSeq, seq, fold, over, summary, state } = snapshot;
        const known = db.prepare("SELECT 1 FROM events WHERE run = ? AND run_seq = ?").get(run, runSeq);
        if (!known) return;
        db.prepare("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)").run(
          run,
          runSeq,
          seq,
          fold,
          over ? 1 : 0,
          summary,
          state,
        );
      });
    },
  };
}

function takeBytes(rows: Iterable<EventRow>, maxBytes: number): EventRow[] {
  const taken: EventRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    taken.push(row);
    bytes += row.data.length;
    if (bytes >= maxBytes) break;
  }
  return taken;
}

export function toEvent(row: EventRow): StoredEvent {
  if (row.type === REMOVED) return removedEvent(row.seq, row.at);
  return { ...toPlace(row), data: readData(row.type, row.version ?? 1, JSON.parse(row.data)) } as StoredEvent;
}

const toPlace = ({ seq, run, run_seq, type, at }: EventRow) => ({
  seq,
  run: run || null,
  runSeq: run_seq,
  type,
  timestamp: at,
});

/** `readData` upgrades data of an older version, which is then encoded again. */
function toRaw(row: EventRow): RawEvent {
  if (row.version === EVENT_VERSION && row.type !== REMOVED) return { ...toPlace(row), data: row.data } as RawEvent;
  return encodeStored(toEvent(row));
}

const FIRST_WITH_SNAPSHOTS = 3;
const PAGE_BYTES = 4096;
const END = Number.MAX_SAFE_INTEGER;
/** Another process that opens, closes or checkpoints the file holds its lock for less than `BUSY_MS`. */
const BUSY_MS = 5000;
const SQLITE_FULL = 13;
/** SQLite's code for a journal that a reader cannot roll back. */
const SQLITE_READONLY_ROLLBACK = 776;

export function attempt<T>(purpose: string, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const full = (error as { errcode?: number }).errcode === SQLITE_FULL || /ENOSPC|disk is full/.test(message);
    if (full) throw environmentFault(`Cannot ${purpose}`, "ENOSPC", dirname(file), { cause: error });
    throw new TuttiError("storage_failed", `Cannot ${purpose}: ${message}. Check the data folder and its disk.`, {
      cause: error,
    });
  }
}
