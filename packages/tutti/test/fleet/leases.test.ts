import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { placeAttempts } from "./place-attempts.ts";
import { NoOpHost } from "../lab/no-op/no-op-host.ts";
import { newCluster, newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { createHostTables, Fleet } from "../../src/fleet/fleet.ts";
import { HostLink, type HostFacts } from "../../src/fleet/host-link.ts";
import { JobQueue } from "../../src/fleet/job-queue.ts";
import { removeHost, setDrained } from "../../src/fleet/manage-hosts.ts";
import { withRemoteSessions } from "../../src/fleet/remote-sessions.ts";
import { openHeldStore } from "../../src/main/held-store.ts";
import { openDatabase, type Database } from "../../src/store/postgres/database.ts";
import { migrateDatabase } from "../../src/store/postgres/migrate.ts";
import { realWorld } from "../../src/world.ts";

const DAY_MS = 86_400_000;
/** Longer than this test takes on a busy machine. */
const LEASE_MS = 600_000;

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Hosts that hold one attempt each. */
async function startHosts(url: string, leaseMs: number, names: readonly string[]): Promise<HostLink[]> {
  const database = await openOwner(url);
  await createHostTables(database);
  const jobs = await JobQueue.open(database);
  await query(url, "UPDATE tutti_hosts.setting SET lease_ms = $1", [leaseMs]);
  const links: HostLink[] = [];
  for (const name of names) {
    const key = `run/${name}/1`;
    await placeAttempts(database, jobs, [key]);
    const link = new HostLink(database, name, realWorld);
    const facts: HostFacts["facts"] = { agents: [], sandbox: false, memory: 0, cpus: 1 };
    await link.join({ name, labels: {}, capacity: 2, version: "1", facts }, []);
    expect((await link.sync([], 1, [])).taken).toMatchObject([{ key }]);
    links.push(link);
  }
  await jobs.close();
  return links;
}

async function openOwner(url: string): Promise<Database> {
  const database = await openDatabase({ url });
  closing.push(() => database.close());
  return database;
}

async function openFleet(url: string, leaseMs: number): Promise<void> {
  const database = await openDatabase({ url });
  await migrateDatabase(database);
  const fleet = await Fleet.open({ database, world: realWorld, server: "server", leaseMs, alsoWork: false });
  closing.push(() => fleet.close());
}

const silent = (url: string, host: string, time: string) =>
  query(url, "UPDATE tutti_hosts.host SET seen_at = now() - $2::interval WHERE id = $1", [host, time]);

const states = async (url: string): Promise<Record<string, string>> => {
  const rows = await query<{ host: string; state: string }>(url, "SELECT host, state FROM tutti_hosts.attempt");
  return Object.fromEntries(rows.map(({ host, state }) => [host, state]));
};

describe("the lease of a host", () => {
  it(
    "stays as long as it was at its last beat when a server starts with a shorter one",
    withPostgres(async () => {
      const url = await newDatabase();
      const [one] = await startHosts(url, DAY_MS, ["one"]);
      await silent(url, "one", "2 hours");
      // Opening looks for lost hosts.
      await openFleet(url, 4000);
      expect(await states(url)).toEqual({ one: "held" });
      expect(await one!.beat(false)).toMatchObject({ leaseMs: 4000 });
      await silent(url, "one", "2 hours");
      await expect.poll(() => states(url)).toEqual({ one: "over" });
    }),
  );

  it(
    "also counts in a database of an earlier version, whose tables lack its column",
    withPostgres(async () => {
      const url = await newDatabase();
      const [one] = await startHosts(url, DAY_MS, ["one"]);
      await query(
        url,
        `ALTER TABLE tutti_hosts.host DROP COLUMN lease_ms; ALTER TABLE tutti_hosts.attempt DROP COLUMN server;
         ALTER TABLE tutti_hosts.queue DROP COLUMN insertion; ALTER TABLE tutti_hosts.setting DROP COLUMN functions`,
      );
      await openFleet(url, LEASE_MS);
      expect(await one!.beat(false)).toMatchObject({ leaseMs: LEASE_MS, held: { "run/one/1": 0 } });
    }),
  );

  it(
    "does not pass while PostgreSQL is away",
    withPostgres(async () => {
      const cluster = newCluster();
      cluster.start();
      closing.push(() => {
        cluster.stop();
        rmSync(cluster.folder, { recursive: true, force: true });
      });
      const url = cluster.url("postgres");
      await startHosts(url, LEASE_MS, ["one", "gone"]);
      // As if they had been seen before this start of PostgreSQL.
      await silent(url, "one", "30 minutes");
      await silent(url, "gone", "1 day");
      await openFleet(url, LEASE_MS);
      expect(await states(url)).toEqual({ one: "held", gone: "over" });
    }),
  );
});

describe("a user", () => {
  it(
    "drains a host, which keeps its session, renews its lease and takes no other one",
    withPostgres(async () => {
      const url = await newDatabase();
      const [one] = await startHosts(url, LEASE_MS, ["one"]);
      const database = await openOwner(url);
      const jobs = await JobQueue.open(database);
      await placeAttempts(database, jobs, ["run/next/1"]);
      await jobs.close();
      await setDrained(database, "one", true);
      expect((await one!.sync([], 1, [])).taken).toEqual([]);
      await query(url, "DELETE FROM tutti_hosts.attempt WHERE state = 'waiting'");
      // Opening looks for lost hosts.
      await openFleet(url, LEASE_MS);
      expect(await states(url)).toEqual({ one: "held" });
      expect(await one!.beat(false)).toMatchObject({ drained: true, held: { "run/one/1": 0 } });
    }),
  );

  it(
    "removes a host, whose sessions are over at once, although no server looks for lost hosts",
    withPostgres(async () => {
      const url = await newDatabase();
      const [one] = await startHosts(url, LEASE_MS, ["one", "two"]);
      await removeHost(await openOwner(url), "one");
      expect(await query(url, "SELECT host, state, reason FROM tutti_hosts.attempt ORDER BY host")).toEqual([
        { host: "one", state: "over", reason: "its host was removed" },
        { host: "two", state: "held", reason: null },
      ]);
      await expect(one!.beat(false)).rejects.toMatchObject({ code: "host_removed" });
    }),
  );
});

describe("a server that has lost a run", () => {
  it(
    "does not end the sessions of that run on hosts",
    withPostgres(async () => {
      const folder = mkdtempSync(join(tmpdir(), "tutti-lost-run-"));
      closing.push(() => rmSync(folder, { recursive: true, force: true }));
      const url = await newDatabase();
      const { store, fleet, lock } = await openHeldStore(folder, url);
      closing.push(async () => {
        await fleet.close();
        await store.close();
        lock.release();
      });
      const idle = {
        delimiters: { delimiterStart: "<", delimiterEnd: ">" },
        plan: [],
        delivered() {},
        lastTurn: () => 0,
      };
      const sessions = withRemoteSessions(new NoOpHost(idle as never), fleet);
      await query(url, "INSERT INTO tutti.runs (run, last, server) VALUES ('run', 0, 'another server')");
      await query(
        url,
        "INSERT INTO tutti_hosts.attempt (key, run, session, state) VALUES ('run/a/1', 'run', 'a', 'waiting')",
      );
      const state = () => query(url, "SELECT state FROM tutti_hosts.attempt");
      await sessions.reap("run", []);
      expect(await state()).toEqual([{ state: "waiting" }]);
      await query(url, "UPDATE tutti.runs SET server = $1", [store.server]);
      await sessions.reap("run", []);
      expect(await state()).toEqual([{ state: "over" }]);
    }),
  );
});
