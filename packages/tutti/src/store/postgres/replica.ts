// A `Replica` copies the database's log to a SQLite file of the data folder. Reads are local, so they are as fast as on
// one machine and go on while the database is away.
//
// Invariants
// 1. The replica is a prefix of the database's log. It is deleted and copied again if it belongs to another database.
// 2. Every change stores the new position in the same transaction.
import { chmodSync, rmSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { migrate } from "../migrate.ts";
import type { Snapshots } from "../snapshots.ts";
import { attempt, readerOf, snapshotsOf, type EventRow } from "../sqlite.ts";
import { REMOVED, type LogReader } from "../store.ts";

/** A `Removal` empties the events of `run` up to `seq`. `n` counts 1, 2, 3 … over the database. */
export interface Removal {
  n: number;
  run: string;
  at: number;
  seq: number;
}

export class Replica {
  readonly snapshots: Snapshots;
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly reader: LogReader;
  #lastSeq: number | null = null;
  #removals: number | null = null;
  #insertion: StatementSync | null = null;

  constructor(file: string) {
    this.#file = file;
    this.#db = attempt(`open ${file}`, file, () => open(file));
    this.reader = readerOf(this.#db);
    this.snapshots = snapshotsOf(this.#db, (write) => {
      try {
        this.#change(write);
      } catch {
        // A snapshot that is not saved is folded again from the log.
      }
    });
  }

  /** Identifies this data folder among the servers of a database. */
  get server(): string | null {
    return this.#read("server");
  }

  /** The id of the database that this `Replica` is a copy of. */
  get database(): string | null {
    return this.#read("database");
  }

  /** The `seq` of the last event in this copy. It is cached, because every notification is compared with it. */
  get lastSeq(): number {
    return (this.#lastSeq ??= this.reader.lastSeq());
  }

  get removals(): number {
    return (this.#removals ??= Number(this.#read("removals") ?? 0));
  }

  belongTo(server: string, database: string): void {
    this.#change(() => {
      this.#write("server", server);
      this.#write("database", database);
    });
  }

  /** Adds events after `lastSeq` and removals after `removals`, both ascending and without a gap. */
  extend(events: readonly EventRow[], removals: readonly Removal[]): void {
    const lastSeq = events.at(-1)?.seq ?? this.#lastSeq;
    const lastRemoval = removals.at(-1)?.n ?? this.#removals;
    this.#lastSeq = null;
    this.#removals = null;
    this.#change(() => {
      let next = 0;
      // A run may exist again after its removal, so each `Removal` has its place among the events.
      for (const removal of removals) {
        while (next < events.length && events[next]!.seq <= removal.seq) this.#insert(events[next++]!);
        this.#remove(removal);
      }
      while (next < events.length) this.#insert(events[next++]!);
    });
    // `events` and `removals` are in ascending order, so the last one has the highest number.
    this.#lastSeq = lastSeq;
    this.#removals = lastRemoval;
  }

  #insert({ seq, run, run_seq, type, data, at, version = 1 }: EventRow): void {
    // An event never changes its `seq`, so a row that exists already is the same one.
    this.#insertion ??= this.#db.prepare(
      "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO NOTHING",
    );
    this.#insertion.run(seq, run, run_seq, type, data, at, version);
  }

  #remove({ n, run, at, seq }: Removal): void {
    this.#db
      .prepare("UPDATE events SET run = '', run_seq = -seq, type = ?, data = '{}', at = ? WHERE run = ? AND seq <= ?")
      .run(REMOVED, at, run, seq);
    this.#db.prepare("DELETE FROM snapshots WHERE run = ?").run(run);
    this.#write("removals", String(n));
  }

  #change(work: () => void): void {
    attempt("write the replica", this.#file, () => {
      this.#db.exec("BEGIN");
      try {
        work();
        this.#db.exec("COMMIT");
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #read(name: string): string | null {
    return (this.#db.prepare("SELECT value FROM replica WHERE name = ?").get(name)?.["value"] as string) ?? null;
  }

  #write(name: string, value: string): void {
    this.#db.prepare("INSERT OR REPLACE INTO replica VALUES (?, ?)").run(name, value);
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  delete(): void {
    this.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#file}${suffix}`, { force: true });
  }
}

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  chmodSync(file, 0o600);
  // The database has every event, so a power failure may cost the replica its last ones.
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON");
  migrate(db, file);
  db.exec("CREATE TABLE IF NOT EXISTS replica (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT");
  return db;
}
