import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { placeAttempts } from "./place-attempts.ts";
import { NoOpHost } from "../lab/no-op/no-op-host.ts";
import { runSimulatedHost } from "../lab/no-op/simulated-fleet.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { createHostTables } from "../../src/fleet/fleet.ts";
import { FleetCalls } from "../../src/fleet/fleet-calls.ts";
import { JobQueue } from "../../src/fleet/job-queue.ts";
import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";
import type { Session, SessionSignal } from "../../src/session/session.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";

const KEY = "run/a/1";
/** Beats come four times per lease, and no server looks for lost hosts here. */
const LEASE_MS = 400;

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Sessions whose output is read as `pieces`, and which then stay open. */
function hostOf(pieces: readonly SessionSignal[]): NoOpHost {
  const host = new NoOpHost({
    delimiters: { ...DEFAULT_DELIMITERS, type: "json" },
    plan: [],
    delivered() {},
    lastTurn: () => 0,
  });
  const open = host.open.bind(host);
  host.open = (spec): Session => {
    const session = open(spec);
    const signals = session.signals.bind(session);
    session.signals = async function* () {
      yield* pieces;
      for await (const signal of signals()) if (signal.type === "gone") yield signal;
    };
    return session;
  };
  return host;
}

const text = (text: string, complete: boolean): SessionSignal => ({ type: "text", text, complete });

describe("a host", () => {
  it(
    "renews its lease again and again",
    withPostgres(async () => {
      const url = await newDatabase();
      const folder = mkdtempSync(join(tmpdir(), "tutti-lease-"));
      closing.push(() => rmSync(folder, { recursive: true, force: true }));
      const database = await openDatabase({ url });
      closing.push(() => database.close());
      await createHostTables(database);
      await query(url, "UPDATE tutti_hosts.setting SET lease_ms = $1", [LEASE_MS]);
      const drain = new AbortController();
      const ended = runSimulatedHost({
        folder,
        url,
        name: "one",
        capacity: 1,
        sessions: hostOf([]),
        drain: drain.signal,
      });
      closing.push(() => {
        drain.abort();
        return ended;
      });
      const seen = new Set<string>();
      const look = async (): Promise<number> => {
        const rows = await query<{ at: string }>(url, "SELECT seen_at::text AS at FROM tutti_hosts.host");
        for (const { at } of rows) seen.add(at);
        return seen.size;
      };
      // The first two are those of the start.
      await expect.poll(look).toBeGreaterThan(4);
    }),
  );
});

describe("a host that is restarted", () => {
  it(
    "reports only the output that is new, although it reads all of it again in other pieces",
    withPostgres(async () => {
      const url = await newDatabase();
      const folder = mkdtempSync(join(tmpdir(), "tutti-adoption-"));
      closing.push(() => rmSync(folder, { recursive: true, force: true }));
      const database = await openDatabase({ url });
      closing.push(() => database.close());
      await createHostTables(database);
      await query(url, "UPDATE tutti_hosts.setting SET lease_ms = $1", [LEASE_MS]);
      const jobs = await JobQueue.open(database);
      closing.push(() => jobs.close());
      await placeAttempts(database, jobs, [KEY]);
      const calls = new FleetCalls({ pool: database.pool, query: (work) => work() });
      const start = {
        key: { runId: "run", name: "a", attempt: 1 },
        start: "0",
        prefix: "",
        repository: "",
        bundle: null,
      };
      void calls
        .call(KEY, "prepare", { op: "prepare", ...start, open: { runId: "run", sessionId: KEY } })
        .catch(() => {});

      const drain = new AbortController();
      const serve = (...pieces: SessionSignal[]): Promise<void> =>
        runSimulatedHost({ folder, url, name: "one", capacity: 1, sessions: hostOf(pieces), drain: drain.signal });
      const reported = async (): Promise<string> => {
        const rows = await query<{ body: string }>(url, "SELECT body FROM tutti_hosts.signal ORDER BY at");
        const signals = rows.map(({ body }) => JSON.parse(body) as SessionSignal);
        return signals.map((signal) => (signal.type === "text" ? signal.text : "")).join("");
      };

      const first = serve(text("one t", false));
      // It may fail before `rejects` looks at it.
      first.catch(() => {});
      await expect.poll(reported).toBe("one t");
      // An error of the database ends the process of the host, and its session goes on.
      await query(url, "ALTER TABLE tutti_hosts.setting RENAME TO missing");
      await expect(first).rejects.toThrow("setting");
      await query(url, "ALTER TABLE tutti_hosts.missing RENAME TO setting");
      const second = serve(text("one tw", false), text("o", true));
      closing.push(() => {
        drain.abort();
        return second;
      });
      await expect.poll(reported).toBe("one two");
    }),
  );
});
