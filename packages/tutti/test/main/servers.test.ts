// Servers that share a database: real processes, which are killed.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Lab, LAUNCHER } from "../lab/lab.ts";
import { newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { waitUntil } from "../lab/wait-until.ts";
import { createClient } from "../../src/client/client.ts";

type Client = ReturnType<typeof createClient>;

let lab: Lab;
const servers: ChildProcess[] = [];
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.kill("SIGKILL");
  lab.tearDown();
});

async function serve(name: string, url: string): Promise<{ child: ChildProcess; address: string; client: Client }> {
  const args = ["--data-dir", join(lab.folder, name), "serve", "--port", "0", "--token", name, "--database-url", url];
  const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd: lab.folder, stdio: ["ignore", "pipe", "ignore"] });
  servers.push(child);
  let text = "";
  child.stdout.on("data", (part: Buffer) => (text += part.toString()));
  const address = await waitUntil(() => /listening on (\S+)\/\?token/.exec(text)?.[1]);
  return { child, address, client: createClient({ baseUrl: address, token: name }) };
}

describe("Two servers over one database", () => {
  it(
    "answer for all runs, and one continues the runs of the other after it was killed, in new sessions",
    withPostgres(async () => {
      const url = await newDatabase();
      const [a, b] = await Promise.all([serve("a", url), serve("b", url)]);
      const gate = lab.gate();
      const [turn] = goodWorker.turns;
      const waiting = { ...goodWorker, turns: [{ ...turn, waitForFile: gate.file }] };
      const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), waiting]);
      const { orchestratorId: id } = await a.client.create({
        templateId: "documentation",
        message: "x",
        cwd: lab.repo,
        agent,
        autoStart: true,
      });

      const plan = await waitUntil(async () => (await b.client.inbox()).find(({ kind }) => kind === "plan"));
      await b.client.answer(plan.id, { approve: true });
      const key = await waitUntil(async () => {
        const workers = await b.client.call("GET /api/orchestrator/:id/workers", { params: { id } });
        return workers.every(({ status }) => status === "running") ? workers[0]?.sessionId : null;
      });
      await waitUntil(async () => (await b.client.transcript(id, key)).length > 0);

      a.child.kill("SIGKILL");
      // The answer comes from the server that has taken the run over.
      await b.client.order(id, "message", { text: "Go on." });
      const again = await serve("a", url);
      // The sessions of the killed server outlived it. It ends them now, and the other one has started new ones.
      const folders = globSync(join(lab.folder, "a", "sessions", id, "*"));
      expect(folders).toHaveLength(3);
      await waitUntil(() => folders.every((folder) => existsSync(join(folder, "end.json"))));
      gate.open();
      await waitUntil(async () => (await b.client.get(id)).status === "completed");
      expect(await b.client.result(id)).toMatchObject({ outcome: "success", census: { planned: 2, completed: 2 } });
      const sessionsOf = (name: string) =>
        globSync(join(lab.folder, name, "sessions", id, "*")).map((folder) => basename(folder));
      expect(sessionsOf("b").filter((session) => sessionsOf("a").includes(session))).toEqual([]);

      // The workspaces are released after the end of the run, and `again` copies the log of `b`.
      const isReleased = ({ type }: { type: string }) => type === "workspace:released";
      await waitUntil(async () => (await again.client.events(id)).some(isReleased));
      const events = await again.client.events(id);
      expect(events.filter(({ type }) => type === "worker:lost").map(({ data }) => data)).toMatchObject([
        { reason: "its server was lost", counted: false },
        { reason: "its server was lost", counted: false },
      ]);
      expect(events).toEqual(await b.client.events(id));
      expect(events.map(({ runSeq }) => runSeq)).toEqual(events.map((_, i) => i + 1));
      expect(events.filter(({ type }) => type === "worker:completed")).toHaveLength(2);
      const [log] = await query<{ count: number; last: number }>(
        url,
        "SELECT count(*)::int AS count, max(seq)::int AS last FROM tutti.events",
      );
      expect(log!.count).toBe(log!.last);
    }),
  );

  it(
    "do not let a token of one name a program for a run of the other that it could not name itself",
    withPostgres(async () => {
      const url = await newDatabase();
      const [a, b] = await Promise.all([serve("a", url), serve("b", url)]);
      const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
      const { orchestratorId: id } = await a.client.create({
        templateId: "documentation",
        message: "x",
        cwd: lab.repo,
        agent,
        autoStart: true,
      });
      const plan = await waitUntil(async () => (await b.client.inbox()).find(({ kind }) => kind === "plan"));
      const { token } = await b.client.call("POST /api/tokens", { body: { name: "ci", role: "operate" } });
      const operator = createClient({ baseUrl: b.address, token });
      const ran = join(lab.folder, "ran");
      const modifications = { one: { agent: `command:touch ${ran}` } };
      for (const order of ["edit", "confirm"] as const)
        await expect(operator.order(id, order, { modifications })).rejects.toMatchObject({
          status: 403,
          code: "forbidden",
        });
      expect(await b.client.inbox()).toEqual([plan]);
      await operator.order(id, "confirm", {});
      await waitUntil(async () => (await b.client.get(id)).status === "completed");
      expect(existsSync(ran)).toBe(false);
    }),
  );
});
