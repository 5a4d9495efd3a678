import { afterEach, expect, it } from "vitest";
import { FleetLab } from "./fleet-lab.ts";
import { query, withPostgres } from "../lab/postgres.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { CANARIES } from "../session/canaries.ts";

let lab: FleetLab;
afterEach(() => lab.end());

it(
  "a secret of the user reaches the host, and stays in no table when the work is done",
  withPostgres(async () => {
    const [request, check] = ["Anthropic", "npm"].map(
      (name) => CANARIES.find((canary) => canary.name === name)!.printed,
    );
    lab = new FleetLab();
    const server = await lab.begin();
    await lab.worker("one");
    server.templates.create({
      id: "checked",
      name: "Checked",
      extends: "_default",
      phases: {
        verification: { enabled: true, commands: [{ name: "check", run: `echo ${check!.split("").join("''")}` }] },
      },
    });
    const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    const { engine } = server;
    const { id } = await engine.create({ templateId: "checked", message: `use ${request}`, cwd: lab.repo, agent });
    const rowsWith = async (secret: string) =>
      (
        await query<{ name: string }>(
          lab.url,
          "SELECT name FROM tutti_hosts.request WHERE body || coalesce(reply, '') LIKE '%' || $1 || '%'",
          [secret],
        )
      ).map(({ name }) => name);
    await lab.recordRequests();
    await engine.order(id, "start");
    await engine.until(id, ({ status }) => status === "confirming");
    expect(await rowsWith(request!)).toContain("turn 1");
    await engine.order(id, "confirm");
    await engine.until(id, ({ released }) => released);
    expect((await engine.result(id)).verification?.commands).toMatchObject([{ exitCode: 0 }]);
    expect(await rowsWith(request!)).toEqual([]);
    expect(await rowsWith(check!)).toEqual([]);
    const parts = lab.recordedRequests(`${id}/main/1`);
    expect((await parts).map((name) => name.split(" ")[0])).toContain("runCheck");
    const dump = JSON.stringify([
      await query(lab.url, "SELECT body FROM tutti_hosts.signal UNION ALL SELECT body FROM tutti_hosts.entry"),
      await query(lab.url, "SELECT * FROM tutti.events"),
    ]);
    expect([request!, check!].filter((secret) => dump.includes(secret))).toEqual([]);
    // The transcript shows the prompt without the secret.
    expect(dump).toContain("Request:\\\\nuse ");
  }),
);
