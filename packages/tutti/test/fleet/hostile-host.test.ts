// A worker host that an attacker controls: it has its own login and the token of its attempt.
import { afterEach, describe, expect, it } from "vitest";
import { placeAttempts } from "./place-attempts.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { createHostTables } from "../../src/fleet/fleet.ts";
import { FleetCalls, type SignalPage } from "../../src/fleet/fleet-calls.ts";
import { HostLink, type HostFacts } from "../../src/fleet/host-link.ts";
import { readHostSignal } from "../../src/fleet/host-signal.ts";
import { HOST_FUNCTIONS, MAX_SIGNAL_BYTES, SIGNAL_PAGE_BYTES } from "../../src/fleet/host-tables.ts";
import { JobQueue } from "../../src/fleet/job-queue.ts";
import { addHost } from "../../src/fleet/manage-hosts.ts";
import { openDatabase, type Database } from "../../src/store/postgres/database.ts";
import { migrateDatabase } from "../../src/store/postgres/migrate.ts";
import { realWorld } from "../../src/world.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface HostWithLogin {
  id: string;
  url: string;
  key: string;
  token: string;
}

/** Hosts with logins of their own that hold one attempt each. */
async function startHosts(
  names: readonly string[],
): Promise<{ owner: string; database: Database; hosts: HostWithLogin[] }> {
  const url = await newDatabase();
  const open = async (of: string): Promise<Database> => {
    const opened = await openDatabase({ url: of });
    closing.push(() => opened.close());
    return opened;
  };
  const database = await open(url);
  await migrateDatabase(database);
  await createHostTables(database);
  const jobs = await JobQueue.open(database);
  closing.push(() => jobs.close());
  const hosts: HostWithLogin[] = [];
  for (const name of names) {
    await placeAttempts(database, jobs, [`run/${name}/1`]);
    const added = await addHost(database, url, name);
    const link = new HostLink(await open(added.url), added.id, realWorld);
    const facts: HostFacts["facts"] = { agents: [], sandbox: false, memory: 0, cpus: 1 };
    await link.join({ name, labels: {}, capacity: 1, version: "1", facts }, []);
    const [taken] = (await link.sync([], 1, [])).taken;
    hosts.push({ id: added.id, url: added.url, key: taken!.key, token: taken!.token });
  }
  return { owner: url, database, hosts };
}

/** Reads until the last page. */
async function readAll(database: Database, key: string): Promise<SignalPage[]> {
  const calls = new FleetCalls({ pool: database.pool, query: (work) => work() });
  const reader = calls.follow(key);
  const pages: SignalPage[] = [];
  for (;;) {
    const page = await reader.next(new AbortController().signal);
    pages.push(page!);
    if (page!.isLast) break;
  }
  reader.end();
  return pages;
}

describe("the login of a host", () => {
  it(
    "reads and changes nothing of the log, of other hosts and of their attempts, also with a stolen token",
    withPostgres(async () => {
      const { owner, hosts } = await startHosts(["one", "two"]);
      const [one, two] = hosts as [HostWithLogin, HostWithLogin];
      await query(owner, "INSERT INTO tutti_hosts.request (key, name, body) VALUES ($1, 'turn 1', '\"secret\"')", [
        two.key,
      ]);
      for (const text of [
        "SELECT * FROM tutti.events",
        "INSERT INTO tutti.events SELECT * FROM tutti.events",
        "DELETE FROM tutti.events",
        "UPDATE tutti.runs SET server = 'mine'",
        "SELECT * FROM tutti_hosts.request",
        "SELECT * FROM tutti_hosts.signal",
        "UPDATE tutti_hosts.request SET reply = 'mine'",
        "UPDATE tutti_hosts.attempt SET host = 'mine'",
        "UPDATE tutti_hosts.host SET login = session_user",
        "SELECT tutti_hosts.holds('x', 'x', 'x')",
        "SELECT tutti_hosts.take(NULL, 1)",
        "CREATE OR REPLACE FUNCTION tutti_hosts.own_host(text) RETURNS text LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE tutti_hosts.host OWNER TO session_user",
        "CREATE ROLE mine SUPERUSER",
        "SELECT pg_read_file('PG_VERSION')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT passwd FROM pg_shadow",
      ])
        await expect(query(one.url, text), text).rejects.toThrow(/permission denied|must be/);
      await expect(query(one.url, "SET ROLE postgres")).rejects.toThrow(/permission denied|does not exist|must be/);

      const before = await query(owner, "SELECT * FROM tutti_hosts.attempt ORDER BY key");
      const report = { key: two.key, token: two.token, after: 0, hasNews: true, signals: [{ at: 1, body: "{}" }] };
      // A table of its own that hides the real one in the search path counts for nothing.
      const shadow = "CREATE TEMP TABLE host AS SELECT * FROM (VALUES ($$mine$$)) AS mine (login);";
      const [synced] = await query<{ value: object }>(one.url, "SELECT tutti_hosts.host_sync($1, $2, 9) AS value", [
        two.id,
        JSON.stringify([report]),
      ]);
      expect(synced!.value).toEqual({ taken: [], more: false, requests: [] });
      await query(one.url, `${shadow} SELECT tutti_hosts.host_beat('x', false)`);
      const call = async (text: string, values: unknown[]): Promise<unknown> =>
        (await query<{ value: unknown }>(one.url, `SELECT tutti_hosts.${text} AS value`, values))[0]!.value;
      expect(await call("host_release($1, $2, $3, 'mine')", [two.id, two.key, two.token])).toBe(false);
      expect(await call("host_beat($1, true)", [two.id])).toMatchObject({ held: { [one.key]: 0 } });
      const known = [one.key, two.key];
      expect(await call("host_join($1, 'two', '{}', 9, '1', '{}', $2)", [two.id, known])).toMatchObject({
        id: one.id,
        name: "one",
      });
      expect(await query(owner, "SELECT * FROM tutti_hosts.attempt ORDER BY key")).toEqual(before);
      expect(await query(owner, "SELECT 1 FROM tutti_hosts.signal")).toEqual([]);
      expect(await query(owner, "SELECT leaving FROM tutti_hosts.host WHERE name = 'two'")).toEqual([
        { leaving: false },
      ]);
    }),
  );

  it(
    "may execute the functions for hosts, and no others, also after an upgrade that adds some",
    withPostgres(async () => {
      const { owner, database, hosts } = await startHosts(["one"]);
      // PostgreSQL lets everyone execute a new function.
      await query(owner, "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA tutti_hosts TO PUBLIC");
      await query(owner, "UPDATE tutti_hosts.setting SET functions = ''");
      await createHostTables(database);
      const allowed = await query<{ name: string }>(
        hosts[0]!.url,
        `SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
          WHERE nspname LIKE 'tutti%' AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
         UNION ALL
         SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE nspname LIKE 'tutti%' AND relkind IN ('r', 'v') AND has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE')`,
      );
      const names = HOST_FUNCTIONS.map((each) => `tutti_hosts.${each.replaceAll(" ", "")}`);
      expect(allowed.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    }),
  );
});

describe("a signal of a host", () => {
  it(
    "that is too long is not stored and ends its session, and the others are read in pages of a few megabytes",
    withPostgres(async () => {
      const { database, hosts } = await startHosts(["one"]);
      const [{ id, url, key, token }] = hosts as [HostWithLogin];
      const report = (signals: string) => `
        SELECT tutti_hosts.host_sync('${id}', json_build_array(json_build_object('key', '${key}', 'token', '${token}',
          'after', 0, 'hasNews', true, 'signals', ${signals})), 0)`;
      const megabytes =
        "SELECT json_agg(json_build_object('at', n, 'body', repeat('x', 1500000))) FROM generate_series(1, 10) AS n";
      await query(url, report(`(${megabytes})`));
      const tooLong = `repeat('x', ${MAX_SIGNAL_BYTES + 1})`;
      await query(url, report(`json_build_array(json_build_object('at', 11, 'body', ${tooLong}))`));
      const pages = await readAll(database, key);
      const rows = pages.flatMap((page) => page.rows);
      expect(rows.map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      for (const page of pages)
        expect(page.rows.slice(0, -1).reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(SIGNAL_PAGE_BYTES);
      expect(pages.length).toBeGreaterThan(3);
      expect(readHostSignal(rows.at(-1)!.body)).toMatchObject({ type: "gone", deliberate: false });
      expect(rows.at(-1)!.body).toContain(`more than ${MAX_SIGNAL_BYTES} bytes`);
    }),
  );

  it(
    "that fills a page exactly is followed by the end of the pages",
    withPostgres(async () => {
      const { owner, database, hosts } = await startHosts(["one"]);
      const [{ key }] = hosts as [HostWithLogin];
      await query(owner, "INSERT INTO tutti_hosts.signal SELECT $1, n, 'x' FROM generate_series(1, 500) AS n", [key]);
      const pages = await readAll(database, key);
      expect(pages.map(({ rows, isLast }) => [rows.length, isLast])).toEqual([
        [500, false],
        [0, true],
      ]);
    }),
  );

  it.each([
    "",
    "{",
    "null",
    "[]",
    '{"type":"no such type"}',
    '{"type":"caughtUp"}',
    '{"type":"suspended","since":0}',
    '{"type":"text","text":5,"complete":true}',
    '{"type":"turnOver","turn":1}',
    '{"type":"turnOver","turn":1,"ending":{"kind":"won","detail":""}}',
    '{"type":"turnOver","turn":1,"ending":{"kind":"ended","detail":""},"committed":{}}',
    '{"type":"usage","usage":{"costUsd":-1}}',
    '{"type":"ask","askId":"1","question":{"toString":null}}',
    '{"type":"gone","reason":null,"deliberate":false}',
    `{"type":"tool","name":"Read","input":${"[".repeat(5000)}${"]".repeat(5000)}}`,
  ])("that is %s ends its session", (body) => {
    expect(readHostSignal(body)).toEqual({
      type: "gone",
      reason: expect.stringContaining("cannot be read"),
      deliberate: false,
    });
  });

  it("that is valid is read with all its members, also those of a newer version", () => {
    for (const signal of [
      { type: "ready" },
      { type: "agent", agent: "a", version: "1", conversation: null, capabilities: { partialText: true } },
      { type: "tool", name: "Read", input: { file: "a.txt" }, id: "1", newer: [1] },
      { type: "usage", usage: { inputTokens: 1, outputTokens: 2, usd: 0 } },
      { type: "report", phase: "completion", data: { task_id: "a" } },
      { type: "turnOver", turn: 1, ending: { kind: "ended", detail: "" } },
      { type: "turnOver", turn: 2, ending: { kind: "interrupted", detail: "" }, cutOff: true },
      { type: "gone", reason: "it was closed", deliberate: true },
    ])
      expect(readHostSignal(JSON.stringify(signal))).toEqual(signal);
  });
});
