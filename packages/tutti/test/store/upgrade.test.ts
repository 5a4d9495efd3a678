// Stores of every earlier format are migrated; stores of a newer version are rejected by readers and writers.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tuttiJson } from "../cli/in-process.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { EVENTS } from "../../src/schema/event.ts";
import { EVENT_VERSION } from "../../src/schema/upcast.ts";
import { FORMAT } from "../../src/store/migrate.ts";
import { events } from "../../src/store/migrations/001-events.ts";
import { versions } from "../../src/store/migrations/002-versions.ts";
import { snapshots } from "../../src/store/migrations/003-snapshots.ts";

const STEPS = [events, versions, snapshots];
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-upgrade-"));
  file = join(folder, "data", "tutti.db");
  mkdirSync(join(folder, "data"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a data folder of an earlier format, with a completed run. */
function write(format: number): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL");
  for (const step of STEPS.slice(0, format)) db.exec(step);
  db.exec(`PRAGMA user_version = ${format}`);
  const insert = db.prepare(
    `INSERT INTO events (seq, run, run_seq, type, data, at${format > 1 ? ", version" : ""}) VALUES (?, ?, ?, ?, ?, ?${format > 1 ? ", 1" : ""})`,
  );
  const log = readFileSync(join(import.meta.dirname, "logs/version-1.jsonl"), "utf8");
  for (const line of log.trim().split("\n")) {
    const { seq, run, run_seq, type, data, at } = JSON.parse(line);
    insert.run(seq, run, run_seq, type, JSON.stringify(data), at);
  }
  db.close();
}

const change = (sql: string): void => {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
};
const formatOf = (): unknown => {
  const db = new DatabaseSync(file, { readOnly: true });
  const { user_version: format } = db.prepare("PRAGMA user_version").get()!;
  db.close();
  return format;
};

describe("a data folder of an earlier version", () => {
  it("has a format number with one migration step each", () => {
    expect(FORMAT).toBe(STEPS.length);
  });

  it.each(STEPS.map((_, i) => i + 1))("with format %i is read unchanged, and migrated by an engine", async (format) => {
    write(format);
    const list = await tuttiJson<{ id: string; status: string }[]>(["--data-dir", join(folder, "data"), "list"]);
    expect(list.last).toMatchObject([{ status: "completed" }]);
    expect(formatOf()).toBe(format);
    const local = openLocalEngine({ dataDir: join(folder, "data") });
    const { engine } = local;
    const { id } = list.last[0]!;
    expect(engine.get(id)).toMatchObject({ status: "completed", outcome: "degraded" });
    for (const { type, data } of engine.events({ run: id })) expect(EVENTS[type].safeParse(data).success).toBe(true);
    const last = engine.lastSeq();
    await engine.archiveWorkers(id);
    expect(engine.events({ after: last })).toMatchObject([{ type: "workers:archived", seq: last + 1, run: id }]);
    await local.close();
    expect(formatOf()).toBe(FORMAT);
  });
});

describe("a data folder of a newer version", () => {
  it.each([
    [
      "format",
      () => `PRAGMA user_version = ${FORMAT + 1}`,
      `it has format ${FORMAT + 1}, this version reads up to ${FORMAT}`,
    ],
    [
      "events",
      () => `UPDATE events SET version = ${EVENT_VERSION + 1} WHERE seq = (SELECT max(seq) FROM events)`,
      `it has events of version ${EVENT_VERSION + 1}, this version reads up to ${EVENT_VERSION}`,
    ],
  ])("is rejected for its %s by readers and writers, and stays unchanged", async (_, sql, detail) => {
    write(FORMAT);
    change(sql());
    const before = readFileSync(file);
    const refusal = {
      code: "data_folder_newer",
      message: expect.stringContaining(`a newer version of Tutti (${detail})`),
    };
    expect(await tuttiJson(["--data-dir", join(folder, "data"), "list"])).toMatchObject({
      code: 4,
      last: { error: refusal },
    });
    expect(() => openLocalEngine({ dataDir: join(folder, "data") })).toThrow(expect.objectContaining(refusal));
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});
