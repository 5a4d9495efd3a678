import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { storeConformance, told } from "./conformance.ts";
import { openSqliteReader, openSqliteStore, QUERIES } from "../../src/store/sqlite.ts";

storeConformance("SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-store-"));
  return { open: () => openSqliteStore(join(folder, "tutti.db")), cleanUp: () => rmSync(folder, { recursive: true }) };
});

describe("the SQLite file", () => {
  const folders: string[] = [];
  const newFile = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-store-"));
    folders.push(folder);
    return join(folder, "tutti.db");
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  it("is in WAL mode, so that readers do not wait for the writer", async () => {
    const file = newFile();
    const store = openSqliteStore(file);
    const db = new DatabaseSync(file);
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
    await store.close();
  });

  it("is read by its indexes only, so the cost of a page is independent of the log's length", async () => {
    const file = newFile();
    await openSqliteStore(file).close();
    const db = new DatabaseSync(file);
    const plan = (query: string) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${query}`)
        .all()
        .map(({ detail }) => detail);
    const ofRun = "SEARCH events USING INDEX sqlite_autoindex_events_1 (run=? AND run_seq>? AND run_seq<?)";
    for (const way of ["", " DESC"]) {
      expect(plan(`${QUERIES.all}${way} LIMIT 9`)).toEqual([
        "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
      ]);
      // No sort step, and every bound belongs to the index.
      expect(plan(`${QUERIES.ofRun}${way} LIMIT 9`)).toEqual([ofRun]);
    }
    const covering = "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1";
    expect(plan(QUERIES.seqAt)).toEqual([`${covering} (run=? AND run_seq=?)`]);
    expect(plan(QUERIES.lastOfRun)).toEqual([`${covering} (run=? AND run_seq>?)`]);
    db.close();
  });

  it("fails with disk_full if it is full, keeps its events, and accepts new ones once there is space", async () => {
    const file = newFile();
    const full = openSqliteStore(file, { maxBytes: 100_000 });
    await full.append("a", 0, [told("small")]);
    const large = told("x".repeat(200_000));
    const results = await Promise.allSettled([full.append("a", 1, [large]), full.append("b", 0, [told("with it")])]);
    for (const result of results) expect(result).toMatchObject({ status: "rejected", reason: { code: "disk_full" } });
    expect(full.read({})).toHaveLength(1);
    await full.append("a", 1, [told("still small")]);
    await full.close();
    const roomy = openSqliteStore(file);
    await roomy.append("a", 2, [large]);
    expect(roomy.read({}).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await roomy.close();
  });

  it("keeps a run if its removal fails half-way, and fails the appends of the same transaction", async () => {
    const file = newFile();
    const store = openSqliteStore(file);
    await store.append("a", 0, [told("1"), told("2"), told("3")]);
    const before = store.read({});
    const db = new DatabaseSync(file);
    db.exec("CREATE TRIGGER stuck BEFORE UPDATE ON events WHEN OLD.seq = 2 BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    const results = await Promise.allSettled([
      store.append("b", 0, [told("with it")]),
      store.remove("a", { timestamp: 2 }),
    ]);
    for (const result of results)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "storage_failed" } });
    expect(store.read({})).toEqual(before);
    db.exec("DROP TRIGGER stuck");
    db.close();
    await store.remove("a", { timestamp: 2 });
    expect(store.runs()).toEqual([]);
    await store.close();
  });

  it("contains no data of a removed run, not even in its free pages", async () => {
    const file = newFile();
    const store = openSqliteStore(file);
    const secret = `said in confidence ${"x".repeat(20_000)}`;
    await store.append("a", 0, [told("short secret"), told(secret)]);
    await store.append("b", 0, [told("of another")]);
    await store.remove("a", { timestamp: 2 });
    await store.close();
    const bytes = readFileSync(file);
    expect(bytes.includes("of another")).toBe(true);
    for (const part of ["short secret", "in confidence", "xxxx"]) expect(bytes.includes(part)).toBe(false);
  });

  it("is rejected if a newer version wrote it", async () => {
    const file = newFile();
    await openSqliteStore(file).close();
    const db = new DatabaseSync(file);
    db.exec("PRAGMA user_version = 99");
    db.close();
    expect(() => openSqliteStore(file)).toThrow(expect.objectContaining({ code: "data_folder_newer" }));
  });

  it("fails with storage_failed if it cannot be opened", () => {
    const file = newFile();
    expect(() => openSqliteStore(join(file, "missing", "x.db"))).toThrow(
      expect.objectContaining({ code: "storage_failed" }),
    );
  });

  it("reads as empty if it has no tables yet", () => {
    const file = newFile();
    new DatabaseSync(file).exec("PRAGMA journal_mode = WAL");
    const reader = openSqliteReader(file);
    expect([reader.runs(), reader.read({}), reader.lastSeq()]).toEqual([[], [], 0]);
    reader.close();
  });

  it("can be read by others without replacing the writer", async () => {
    const file = newFile();
    const store = openSqliteStore(file);
    await store.append("a", 0, [told("1")]);
    const reader = openSqliteReader(file);
    expect(reader.runs()).toEqual(["a"]);
    await store.append("a", 1, [told("2")]);
    expect(reader.read({ run: "a" })).toHaveLength(2);
    reader.close();
    await store.close();
  });
});
