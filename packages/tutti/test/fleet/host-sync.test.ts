import { afterEach, describe, expect, it } from "vitest";
import { placeAttempts } from "./place-attempts.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { createHostTables } from "../../src/fleet/fleet.ts";
import { FleetCalls } from "../../src/fleet/fleet-calls.ts";
import { HostLink, type HostFacts, type TakenAttempt } from "../../src/fleet/host-link.ts";
import { JobQueue } from "../../src/fleet/job-queue.ts";
import { openDatabase, type Database } from "../../src/store/postgres/database.ts";
import { realWorld } from "../../src/world.ts";

let database: Database | null = null;
let jobs: JobQueue | null = null;

afterEach(async () => {
  await jobs?.close();
  await database?.close();
});

/** More than two hosts have room for, and more than two of them as an equal share. */
const KEYS = ["run/a/1", "run/b/1", "run/c/1", "run/d/1", "run/e/1"];

async function placeAll(opened: Database): Promise<void> {
  await createHostTables(opened);
  jobs = await JobQueue.open(opened);
  await placeAttempts(opened, jobs, KEYS);
}

async function join(opened: Database, name: string): Promise<HostLink> {
  const link = new HostLink(opened, name, realWorld);
  const facts: HostFacts = {
    name,
    labels: {},
    capacity: 2,
    version: "1",
    facts: { agents: [], sandbox: false, memory: 0, cpus: 1 },
  };
  await link.join(facts, []);
  return link;
}

describe("hosts that call `host_sync`", () => {
  it(
    "take each attempt once and no more than their capacity, and only the holder of its token can report it",
    withPostgres(async () => {
      const url = await newDatabase();
      database = await openDatabase({ url, maxConnections: 8 });
      await placeAll(database);
      const [one, two] = [await join(database, "one"), await join(database, "two")];
      const all = new Map<HostLink, TakenAttempt[]>([
        [one, []],
        [two, []],
      ]);
      for (let round = 0; round < 3; round++)
        await Promise.all(
          [one, one, two, two].map(async (host) => all.get(host)!.push(...(await host.sync([], 9, [])).taken)),
        );
      const taken = [...all.values()];
      expect(taken.map(({ length }) => length)).toEqual([2, 2]);
      expect(new Set(taken.flat().map(({ key }) => key)).size).toBe(4);
      expect(await query(url, "SELECT 1 FROM tutti_hosts.attempt WHERE state = 'waiting'")).toHaveLength(1);

      const [{ key, token }] = all.get(one)! as [TakenAttempt];
      const { rows } = await database.pool.query<{ n: number }>(
        "INSERT INTO tutti_hosts.request (key, name, body) VALUES ($1, 'open', '{}') RETURNING n",
        [key],
      );
      const { n } = rows[0]!;
      const report = (signal: string, by = token) => ({
        key,
        token: by,
        after: 0,
        hasNews: true,
        replies: [{ n, reply: signal }],
        signals: [{ at: 1, body: signal }],
      });
      const stored = async () => [
        await query(url, "SELECT at, body FROM tutti_hosts.signal"),
        await query(url, "SELECT reply FROM tutti_hosts.request"),
      ];
      const nothing = [[], [{ reply: null }]];
      expect((await one.sync([report("guessed", "no token")], 0, [])).requests).toEqual([]);
      expect((await two.sync([report("of another host")], 0, [])).requests).toEqual([]);
      expect(await stored()).toEqual(nothing);
      expect((await one.sync([report("first")], 0, [])).requests).toMatchObject([{ key, n, done: true }]);
      await one.sync([report("again")], 0, []);
      expect(await stored()).toEqual([[{ at: "1", body: "first" }], [{ reply: "first" }]]);
      await query(url, "UPDATE tutti_hosts.attempt SET state = 'over'");
      await query(url, "UPDATE tutti_hosts.request SET reply = NULL; DELETE FROM tutti_hosts.signal");
      await one.sync([report("late")], 0, []);
      expect(await stored()).toEqual(nothing);
    }),
  );

  it(
    "get no request for an attempt that they have removed: a restarted server would wait for its reply for ever",
    withPostgres(async () => {
      database = await openDatabase({ url: await newDatabase() });
      await placeAll(database);
      const host = await join(database, "one");
      const { taken } = await host.sync([], 1, []);
      const [{ key, token }] = taken as [TakenAttempt];
      const calls = new FleetCalls({ pool: database.pool, query: (work) => work() });
      const removed = calls.call(key, "remove", { op: "remove" });
      const read = async () => (await host.sync([{ key, token, after: 0 }], 0, [key])).requests;
      await expect.poll(async () => (await read()).length).toBe(1);
      const { n } = (await read())[0]!;
      const replies = [{ n, reply: JSON.stringify({ ok: { parcel: null } }) }];
      await host.sync([{ key, token, after: n, hasNews: true, replies }], 0, [key]);
      calls.noticed(key);
      expect(await removed).toEqual({ parcel: null });
      await expect(calls.call(key, "end", { op: "end" })).rejects.toMatchObject({ code: "host_lost" });
      expect(await calls.call(key, "remove", { op: "remove" })).toEqual({ parcel: null });
    }),
  );
});
