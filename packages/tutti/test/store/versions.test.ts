// Logs of earlier versions, as those versions wrote them, must be readable today and fold to a valid state.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fold, FOLD_VERSION } from "../../src/run/apply.ts";
import { census } from "../../src/run/census.ts";
import { FinishedRuns, summarise } from "../../src/engine/runs/finished-runs.ts";
import { EVENTS } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import { EVENT_VERSION } from "../../src/schema/upcast.ts";
import { openSqliteReader, openSqliteStore } from "../../src/store/sqlite.ts";
import { TemplateLibrary } from "../../src/template/files/library.ts";
import { events } from "../../src/store/migrations/001-events.ts";
import { versions } from "../../src/store/migrations/002-versions.ts";
import { snapshots } from "../../src/store/migrations/003-snapshots.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-versions-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a data folder of version 1. `change` may edit the template of its run. */
function version1(change: (template: Record<string, object>) => void = () => {}): string {
  const file = join(folder, "tutti.db");
  const db = new DatabaseSync(file);
  db.exec(events);
  db.exec("PRAGMA user_version = 1");
  const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
  const lines = readFileSync(join(import.meta.dirname, "logs/version-1.jsonl"), "utf8")
    .trim()
    .split("\n");
  for (const line of lines) {
    const { seq, run, run_seq, type, data, at } = JSON.parse(line);
    if (type === "orchestrator:created") change(data.template);
    insert.run(seq, run, run_seq, type, JSON.stringify(data), at);
  }
  db.close();
  return file;
}

describe("a log of version 1", () => {
  it("reads as current events, before and after a current writer has opened the file", async () => {
    const file = version1();
    const reader = openSqliteReader(file);
    const before = reader.read({});
    reader.close();
    expect(before.length).toBeGreaterThan(50);
    for (const { type, data } of before) expect(EVENTS[type].safeParse(data).error, type).toBeUndefined();
    const store = openSqliteStore(file);
    expect(store.read({})).toEqual(before);
    await store.close();
  });

  it("folds to the run's final state, with every setting at its value", () => {
    const reader = openSqliteReader(version1());
    const run = fold(null, reader.read({ run: reader.runs()[0]! }))!;
    reader.close();
    expect(run).toMatchObject({ status: "completed", outcome: "degraded", agent: expect.stringContaining("script:") });
    expect(census(run)).toEqual({
      planned: 4,
      completed: 2,
      failed: 1,
      timeout: 0,
      cancelled: 0,
      skipped: 0,
      blocked: 1,
      neverStarted: 0,
    });
    expect(run.template.config).toMatchObject({ autoRetry: false, failedDependency: "skip", budget: {} });
    expect(run.main).toMatchObject({ agent: run.agent, role: "main" });
    expect(run.answers).toMatchObject({ "one: Tabs or spaces?": { text: "tabs" } });
  });

  it("accepts events of the current version, and each event keeps its own version", async () => {
    const file = version1();
    const store = openSqliteStore(file);
    const [id] = store.runs();
    const last = store.read({ run: id! }).at(-1)!.runSeq;
    const data = { orchestratorId: id!, count: 0, errors: [] };
    await store.append(id!, last, [{ type: "workers:archived", data, timestamp: 1 }]);
    await store.close();
    const db = new DatabaseSync(file, { readOnly: true });
    const rows = db.prepare("SELECT version, count(*) AS n FROM events GROUP BY version ORDER BY version").all();
    db.close();
    expect(rows.map(({ version }) => version)).toEqual([1, EVENT_VERSION]);
  });
});

/** Writes a data folder of a version with migrations 1 to 3. */
function laterVersion(log: string): string {
  const file = join(folder, "tutti.db");
  const db = new DatabaseSync(file);
  for (const migration of [events, versions, snapshots]) db.exec(migration);
  db.exec("PRAGMA user_version = 3");
  const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)");
  const lines = readFileSync(join(import.meta.dirname, "logs", log), "utf8")
    .trim()
    .split("\n");
  for (const line of lines) {
    const { seq, run, run_seq, type, data, at, version } = JSON.parse(line);
    insert.run(seq, run, run_seq, type, JSON.stringify(data), at, version);
  }
  db.close();
  return file;
}

function foldWhole(file: string): Run {
  const reader = openSqliteReader(file);
  const all = reader.read({});
  const run = fold(null, reader.read({ run: reader.runs()[0]! }))!;
  reader.close();
  for (const { type, data } of all) expect(EVENTS[type].safeParse(data).error, type).toBeUndefined();
  return run;
}

describe("a log of version 2", () => {
  it("folds to the run's final state, with default permissions in its template", () => {
    const run = foldWhole(laterVersion("version-2.jsonl"));
    expect(run).toMatchObject({ status: "error", outcome: "failed" });
    expect(census(run)).toMatchObject({ planned: 3, completed: 1, failed: 1, blocked: 1 });
    expect(run.template.config.permissions).toEqual(DEFAULT_PERMISSIONS);
  });
});

describe("a log of version 3", () => {
  it("folds to the run's final state, with the default save interval in its template", () => {
    const run = foldWhole(laterVersion("version-3.jsonl"));
    expect(run).toMatchObject({ status: "completed", outcome: "degraded", usage: { usd: 0.02 } });
    expect(census(run)).toMatchObject({ planned: 3, completed: 2, failed: 1 });
    expect(run.template.config.saveInterval).toBe(60_000);
  });
});

describe("a template of version 1", () => {
  it("is read without the settings that the current schema rejects", () => {
    const reader = openSqliteReader(
      version1((template) => {
        template["variables"] = { small: "letters", LARGE: "ones" };
        template["config"] = { ...template["config"], workerTimeout: -5, strange: true };
      }),
    );
    const [id] = reader.runs();
    const run = new FinishedRuns(reader, null).fold(id!)!;
    reader.close();
    expect(run).toMatchObject({ status: "completed", template: { variables: { LARGE: "ones" } } });
    expect(run.template.config.workerTimeout).toBe(300_000);
  });

  it("puts its run into error if it is unreadable, and other runs still open", async () => {
    const file = version1((template) => delete template["prompts"]);
    const store = openSqliteStore(file);
    const [id] = store.runs();
    const { template } = new TemplateLibrary({ userFolder: folder }).resolve("_default");
    const data = { id: "orch_another00000", templateId: template.id, cwd: "/", status: "created" as const, template };
    const rest = { userRequest: "do it", customVariables: {}, agent: "local" };
    await store.append(data.id, 0, [{ type: "orchestrator:created", data: { ...data, ...rest }, timestamp: 1 }]);
    const finished = new FinishedRuns(store, store.snapshots);
    const [broken, whole] = finished.open();
    expect(whole).toMatchObject({ id: "orch_another00000", status: "created" });
    expect(broken).toMatchObject({
      id,
      status: "error",
      released: true,
      userRequest: expect.any(String),
      errors: [
        { error: expect.stringMatching(/^The log of this run cannot be read: the template has an invalid "prompts/) },
      ],
    });
    expect(broken!.runSeq).toBe(store.read({ run: id! }).at(-1)!.runSeq);
    expect(summarise(broken!).status).toBe("error");
    await store.close();
  });
});

/** Lists the paths of all members of a state. */
function shapeOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => shapeOf(member, `${path}.${key}`));
}

describe("a snapshot", () => {
  it("has a new fold version whenever the shape of the state changes", () => {
    const reader = openSqliteReader(version1());
    const run = fold(null, reader.read({ run: reader.runs()[0]! }))!;
    reader.close();
    const file = join(import.meta.dirname, "logs/fold-shape.json");
    const found = { version: FOLD_VERSION, shape: shapeOf(JSON.parse(JSON.stringify(run))) };
    if (process.env["TUTTI_UPDATE_FOLD"]) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
    const known = JSON.parse(readFileSync(file, "utf8")) as typeof found;
    const advice =
      "The shape of the state has changed. Increase FOLD_VERSION, then run this test with TUTTI_UPDATE_FOLD=1.";
    expect(found.shape, advice).toEqual(known.shape);
    expect(found.version).toBe(known.version);
  });
});
