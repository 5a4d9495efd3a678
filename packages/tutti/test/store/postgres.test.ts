import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { storeConformance, told } from "./conformance.ts";
import { cutConnections, hasPostgres, newCluster, newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { waitUntil } from "../lab/wait-until.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { LogFollower } from "../../src/store/store.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "tutti-replica-"));

// Without PostgreSQL the tests below say so.
if (hasPostgres())
  storeConformance("PostgreSQL", async () => {
    const folder = newFolder();
    const url = await newDatabase();
    return {
      open: () => openPostgresStore({ url, replica: join(folder, "replica.db") }),
      cleanUp: () => rmSync(folder, { recursive: true, force: true }),
    };
  });

describe("servers that share a database", () => {
  const stores: PostgresStore[] = [];
  const folders: string[] = [];
  const open = async (url: string, folder = newFolder()) => {
    folders.push(folder);
    const store = await openPostgresStore({ url, replica: join(folder, "replica.db") });
    stores.push(store);
    return store;
  };
  const follow = (store: PostgresStore) => {
    const events: StoredEvent[] = [];
    const seen = { events, removed: [] as string[], gained: [] as string[], lost: [] as string[] };
    const follower: LogFollower = {
      appended: (more) => events.push(...more),
      removed: (run) => seen.removed.push(run),
      gained: (runs) => seen.gained.push(...runs),
      lost: (runs) => seen.lost.push(...runs),
    };
    store.follow(follower);
    return seen;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it(
    "number one log together, and each reads the events and removals of the others",
    withPostgres(async () => {
      const url = await newDatabase();
      const [a, b] = [await open(url), await open(url)];
      const [seenByA, seenByB] = [follow(a), follow(b)];
      const write = async (store: PostgresStore, run: string) => {
        for (let i = 0; i < 10; i++) await store.append(run, i, [told(`${run} ${i}`)]);
      };
      await Promise.all([write(a, "a1"), write(a, "a2"), write(b, "b1"), write(b, "b2")]);
      await a.remove("a2", { timestamp: 9 });
      await a.append("a2", 0, [told("again")]);
      const isCurrent = () => b.lastSeq() === 41 && a.lastSeq() === 41 && seenByB.removed.length === 1;
      await waitUntil(isCurrent);
      expect(b.read({})).toEqual(a.read({}));
      expect(a.read({}).map(({ seq }) => seq)).toEqual(Array.from({ length: 41 }, (_, i) => i + 1));
      expect(seenByA.events.map(({ run }) => run)).toEqual(expect.arrayContaining(["b1", "b2"]));
      for (const { events } of [seenByA, seenByB])
        expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((x, y) => x - y));
    }),
  );

  it(
    "append only to their own runs, and take over the runs of a server that left",
    withPostgres(async () => {
      const url = await newDatabase();
      const folder = newFolder();
      const [a, b] = [await open(url, folder), await open(url)];
      const seen = follow(b);
      await a.append("a", 0, [told("1")]);
      await expect(b.append("a", 1, [told("x")])).rejects.toMatchObject({ code: "run_moved" });
      await expect(b.remove("a", { timestamp: 1 })).rejects.toMatchObject({ code: "run_moved" });
      await b.append("b", 0, [told("2")]);
      await a.close();
      await waitUntil(() => seen.gained.length > 0);
      expect([seen.gained, b.owns("a")]).toEqual([["a"], true]);
      await b.append("a", 1, [told("3")]);
      // A server that was frozen knows all events, but not that it has lost the run.
      await query(url, "UPDATE tutti.runs SET server = 'another' WHERE run = 'b'");
      expect(b.owns("b")).toBe(true);
      await expect(b.append("b", 1, [told("x")])).rejects.toMatchObject({ code: "run_moved" });
      const again = await open(url, folder);
      expect(again.owns("a")).toBe(false);
      await expect(again.append("a", 2, [told("late")])).rejects.toMatchObject({ code: "run_moved" });
      expect(again.read({ run: "a" }).map(({ runSeq }) => runSeq)).toEqual([1, 2]);
    }),
  );

  it(
    "find events and removals of others although no notification came",
    withPostgres(async () => {
      const url = await newDatabase();
      const a = await open(url);
      const seen = follow(a);
      const { type, data } = told("1");
      await query(url, "INSERT INTO tutti.runs VALUES ('r', 1, 'another')");
      await query(
        url,
        `WITH logged AS (UPDATE tutti.log SET seq = 1)
         INSERT INTO tutti.events (seq, run, run_seq, type, data, at, version) VALUES (1, 'r', 1, $1, $2, 1, 1)`,
        [type, JSON.stringify(data)],
      );
      await waitUntil(() => a.lastSeq() === 1);
      expect(seen.events).toMatchObject([{ run: "r", seq: 1 }]);
      await query(url, "INSERT INTO tutti.removals VALUES (1, 'r', 2, 1)");
      await waitUntil(() => seen.removed.length > 0);
      expect([seen.removed, a.runs()]).toEqual([["r"], []]);
    }),
  );

  it(
    "delete the rows of servers that left long ago and requests without a sender when one of them starts",
    withPostgres(async () => {
      const url = await newDatabase();
      const a = await open(url);
      await query(
        url,
        `INSERT INTO tutti.servers SELECT id, 1, beat, 1 FROM (VALUES
           ('left', -1000), ('crashed', 1000), ('busy', 1000),
           ('recent', -(extract(epoch FROM now()) * 1000)::bigint)) AS v (id, beat)`,
      );
      await query(url, "INSERT INTO tutti.runs VALUES ('r', 0, 'busy')");
      await query(
        url,
        `INSERT INTO tutti.requests (id, server, request, made_at) VALUES
           (gen_random_uuid(), 'x', 'old', now() - interval '2 hours'), (gen_random_uuid(), 'x', 'new', now())`,
      );
      const b = await open(url);
      const servers = await query<{ id: string }>(url, "SELECT id FROM tutti.servers");
      expect(servers.map(({ id }) => id).toSorted()).toEqual([a.server, b.server, "busy", "recent"].toSorted());
      expect(await query(url, "SELECT request FROM tutti.requests")).toEqual([{ request: "new" }]);
    }),
  );

  it(
    "keep every append over lost connections, each of them once",
    withPostgres(async () => {
      const url = await newDatabase();
      const [a, b] = [await open(url), await open(url)];
      for (let i = 0; i < 30; i++) {
        const appended = a.append("a", i, [told(`${i}`)]);
        if (i % 3 === 0) await cutConnections(url);
        await appended;
      }
      await waitUntil(() => b.lastSeq() === 30);
      expect(b.read({ run: "a" }).map(({ data }) => (data as { taskId: string }).taskId)).toEqual(
        Array.from({ length: 30 }, (_, i) => `${i}`),
      );
    }),
  );

  it(
    "wait for a database that restarts: reads go on, and appends are stored once it is back",
    withPostgres(async () => {
      const cluster = newCluster();
      folders.push(cluster.folder);
      cluster.start();
      const [a, b] = [await open(cluster.url("postgres")), await open(cluster.url("postgres"))];
      try {
        await a.append("a", 0, [told("1")]);
        cluster.stop();
        const appended = a.append("a", 1, [told("2")]);
        expect(a.read({}).map(({ seq }) => seq)).toEqual([1]);
        cluster.start();
        expect(await appended).toMatchObject([{ seq: 2, runSeq: 2 }]);
        await waitUntil(() => b.lastSeq() === 2);
      } finally {
        for (const store of [a, b]) await store.close();
        cluster.stop();
      }
    }),
  );

  it(
    "commit an extension together with its events, or neither",
    withPostgres(async () => {
      const url = await newDatabase();
      const a = await open(url);
      await query(
        url,
        `CREATE TABLE jobs (run text, seq bigint);
         CREATE FUNCTION add_jobs(p_run text, p_seq bigint[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
           INSERT INTO jobs SELECT p_run, unnest(p_seq);
           IF p_run = 'bad' THEN RAISE 'a bad job'; END IF;
           RETURN p_run || ' was added';
         END $$`,
      );
      const returned: unknown[] = [];
      a.extendAppends(async (events) => ({
        name: "add_jobs",
        values: [events[0]!.run, events.map(({ seq }) => seq)],
        returned: (value) => void returned.push(value),
      }));
      await a.append("a", 0, [told("1"), told("2")]);
      expect(returned).toEqual(["a was added"]);
      await expect(a.append("bad", 0, [told("3")])).rejects.toMatchObject({ code: "storage_failed" });
      expect(await query(url, "SELECT run, seq::int FROM jobs ORDER BY seq")).toEqual([
        { run: "a", seq: 1 },
        { run: "a", seq: 2 },
      ]);
      expect(await query(url, "SELECT seq::int FROM tutti.log")).toEqual([{ seq: 2 }]);
    }),
  );

  it(
    "copy the log again when the data folder was used with another database",
    withPostgres(async () => {
      const [one, two] = [await newDatabase(), await newDatabase()];
      const folder = newFolder();
      const a = await open(one, folder);
      await a.append("a", 0, [told("1")]);
      await a.close();
      const b = await open(two, folder);
      expect(b.read({})).toEqual([]);
      await b.append("b", 0, [told("2")]);
      await b.close();
      expect((await open(one, folder)).read({}).map(({ run }) => run)).toEqual(["a"]);
    }),
  );
});
