import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { placeAttempts } from "./place-attempts.ts";
import { NoOpHost } from "../lab/no-op/no-op-host.ts";
import { runSimulatedHost, workersOnly } from "../lab/no-op/simulated-fleet.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { createHostTables } from "../../src/fleet/fleet.ts";
import { HostLink, type HostFacts } from "../../src/fleet/host-link.ts";
import { JobQueue } from "../../src/fleet/job-queue.ts";
import { openHeldStore, type FleetSettings } from "../../src/main/held-store.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import type { NewEvent } from "../../src/store/store.ts";
import { realWorld, type World } from "../../src/world.ts";

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-capacities-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const stateOf = async (url: string, run: string): Promise<string | undefined> =>
  (await query<{ state: string }>(url, "SELECT state FROM tutti_hosts.attempt WHERE run = $1", [run]))[0]?.state;

/** A server, and functions that start runs on it and hosts for it. */
async function openServer(settings: FleetSettings) {
  const url = await newDatabase();
  const { store, fleet, lock } = await openHeldStore(newFolder(), url, { leaseMs: 600_000, ...settings });
  closing.push(async () => {
    await fleet.close();
    await store.close();
    lock.release();
  });
  const database = await openDatabase({ url });
  closing.push(() => database.close());
  const join = async (name: string, capacity: number, offered: Pick<HostFacts["facts"], "agents" | "sandbox">) => {
    const link = new HostLink(database, name, realWorld);
    const facts = { ...offered, memory: 0, cpus: 1 };
    await link.join({ name, labels: {}, capacity, version: "1", facts }, []);
    return async () => (await link.sync([], 9, [])).taken.map(({ run }) => run);
  };
  const start = (run: string, agent: string, sandbox: "on" | "off") =>
    store.append(run, 0, [
      { type: "orchestrator:created", data: { id: run, sandbox }, timestamp: 0 },
      { type: "main:spawning", data: { sessionId: run, taskId: null, attempt: 1, agent }, timestamp: 0 },
    ] as unknown as NewEvent[]);
  return { url, fleet, join, start };
}

describe("a host takes work that fits", () => {
  it(
    "its agents and its sandbox: other work waits for another host, or stays on the server if there is none",
    withPostgres(async () => {
      const { url, fleet, join, start } = await openServer({});
      const takeBare = await join("bare", 9, { agents: ["local"], sandbox: false });
      const takeBoxed = await join("boxed", 9, { agents: ["local", "claude"], sandbox: true });
      await start("in a sandbox", "local", "on");
      await start("with claude", "claude", "off");
      await start("a command", "command:sh", "off");
      await start("with codex", "codex", "off");
      expect(await stateOf(url, "with codex")).toBe("here");
      expect([await takeBare(), await takeBare()].flat()).toEqual(["a command"]);
      expect([await takeBoxed(), await takeBoxed()].flat().toSorted()).toEqual(["in a sandbox", "with claude"]);

      await start("late", "claude", "off");
      expect(await stateOf(url, "late")).toBe("waiting");
      await query(url, "UPDATE tutti_hosts.host SET drained = true WHERE id = 'boxed'");
      await expect.poll(() => stateOf(url, "late")).toBe("over");
      expect(fleet.hasReadyHost).toBe(true);
    }),
  );

  it(
    "its capacity: with --also-work the server keeps what would have to wait",
    withPostgres(async () => {
      const { url, join, start } = await openServer({ alsoWork: true });
      const take = await join("one", 1, { agents: ["local"], sandbox: false });
      await start("first", "local", "off");
      await start("second", "local", "off");
      expect([await stateOf(url, "first"), await stateOf(url, "second")]).toEqual(["waiting", "here"]);
      expect(await take()).toEqual(["first"]);
      await start("third", "local", "off");
      expect(await stateOf(url, "third")).toBe("here");
    }),
  );

  it(
    "its free memory, and at least one session",
    withPostgres(async () => {
      const url = await newDatabase();
      const database = await openDatabase({ url });
      closing.push(() => database.close());
      await createHostTables(database);
      const jobs = await JobQueue.open(database);
      closing.push(() => jobs.close());
      await placeAttempts(database, jobs, ["a", "b", "c", "d"]);
      let room = 0;
      let looks = 0;
      const memoryRoom = () => {
        looks += 1;
        return room;
      };
      const { responseFormat: delimiters } = workersOnly(1).prompts;
      const sessions = new NoOpHost({ delimiters, plan: [], delivered() {}, lastTurn: () => 0 });
      const drain = new AbortController();
      // All sessions stay young, and the host looks for work without a pause.
      const sleep: World["sleep"] = (_, signal, background) => realWorld.sleep(1, signal, background);
      const world = { ...realWorld, mono: () => 0, sleep };
      const host = { folder: newFolder(), url, name: "one", capacity: 3, sessions, memoryRoom, world };
      const ended = runSimulatedHost({ ...host, drain: drain.signal });
      closing.push(() => {
        drain.abort();
        return ended;
      });
      /** The number of attempts that the host holds after it has looked for more a few times. */
      const held = async (): Promise<number> => {
        const until = looks + 4;
        await expect.poll(() => looks).toBeGreaterThan(until);
        return (await query(url, "SELECT 1 FROM tutti_hosts.attempt WHERE state = 'held'")).length;
      };
      expect(await held()).toBe(1);
      // One session is young, so its memory is not yet in use.
      room = 2;
      expect(await held()).toBe(2);
      room = 100;
      expect(await held()).toBe(3);
    }),
  );
});
