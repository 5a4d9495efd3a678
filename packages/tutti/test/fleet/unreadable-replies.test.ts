import { afterEach, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { openHeldStore } from "../../src/main/held-store.ts";

let lab: FleetLab;
afterEach(() => lab.end());

it(
  "a reply of a host that cannot be read fails its own request, and no other attempt that is read with it",
  withPostgres(async () => {
    lab = new FleetLab();
    lab.url = await newDatabase();
    const { fleet, store, lock } = await openHeldStore(lab.data, lab.url);
    try {
      await query(
        lab.url,
        `INSERT INTO tutti_hosts.host (id, name, seen_at, lease_ms) VALUES ('host', 'host', now(), 600000);
         INSERT INTO tutti_hosts.attempt (key, run, session, host, state) VALUES ('bad', 'r', 's1', 'host', 'held'), ('good', 'r', 's2', 'host', 'held')`,
      );
      const reader = fleet.follow("good");
      for (const reply of [
        '{"ok"',
        "null",
        '"ok"',
        '{"error":null}',
        '{"error":{"code":"no such code","message":"m"}}',
      ]) {
        const name = `call ${reply}`;
        const call = fleet.call("bad", name, {});
        call.catch(() => {});
        await expect
          .poll(() => query(lab.url, "SELECT 1 FROM tutti_hosts.request WHERE name = $1", [name]))
          .toHaveLength(1);
        await query(lab.url, "UPDATE tutti_hosts.request SET reply = $2 WHERE name = $1", [name, reply]);
        await query(lab.url, "INSERT INTO tutti_hosts.signal SELECT 'good', count(*) + 1, $1 FROM tutti_hosts.signal", [
          JSON.stringify(name),
        ]);
        await query(lab.url, "SELECT pg_notify('tutti_reports', E'bad\\ngood')");
        await expect(call).rejects.toMatchObject({
          code: "host_lost",
          message: expect.stringContaining("cannot be read"),
        });
        // Also when the reply is there already.
        await expect(fleet.call("bad", name, {})).rejects.toMatchObject({ code: "host_lost" });
        let page = await reader.next(new AbortController().signal);
        while (page?.rows.length === 0) page = await reader.next(new AbortController().signal);
        expect(page?.rows.map(({ body }) => body)).toEqual([JSON.stringify(name)]);
      }
      reader.end();
    } finally {
      await fleet.close();
      await store.close();
      lock.release();
    }
  }),
);
