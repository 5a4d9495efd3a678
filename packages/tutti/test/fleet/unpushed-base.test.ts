import { afterEach, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { withPostgres } from "../lab/postgres.ts";
import { HostLink } from "../../src/fleet/host-link.ts";
import { openDatabase, type Database } from "../../src/store/postgres/database.ts";
import { realWorld } from "../../src/world.ts";

let lab: FleetLab;
let database: Database;
afterEach(async () => {
  await database.close();
  await lab.end();
});

it(
  "a run whose base no host can get is rejected as soon as the first host has joined",
  withPostgres(async () => {
    lab = new FleetLab();
    const { engine } = await lab.begin();
    database = await openDatabase({ url: lab.url });
    lab.git("commit", "--quiet", "--allow-empty", "--message", "unpushed");
    const facts = { agents: ["local"], sandbox: false, memory: 0, cpus: 1 };
    const host = new HostLink(database, "one", realWorld);
    await host.join({ name: "one", labels: {}, capacity: 1, version: "1", facts }, []);
    const created = engine.create({ templateId: "_default", message: "Do it", cwd: lab.repo, agent: "local" });
    await expect(created).rejects.toMatchObject({ code: "repository_unusable", kind: { status: 422 } });
  }),
);
