// Schedules and triggers with a real engine: across a kill, behind a real server, and from the command line.
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tutti, tuttiJson } from "../cli/in-process.ts";
import { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { ServerLab, type Asked } from "../server/server-lab.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { openSchedules, startLocalServer } from "../../src/main/local-server.ts";
import { openAutomation } from "../../src/schedule/automation.ts";
import { ScheduleFile } from "../../src/schedule/schedule-file.ts";
import { ScheduleSettings } from "../../src/schedule/settings.ts";
import { realWorld } from "../../src/world.ts";
import type { KilledServer } from "./killed-server.ts";

const KILLED = fileURLToPath(new URL("./killed-server.ts", import.meta.url));
const RULE = "0 3 * * * UTC";
const DUE = Date.parse("2026-01-05T03:00:00Z");
const HOUR = 3_600_000;

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(10);
}

/** Writes the file of a schedule that is settled up to a moment. */
function writeSettledFile(data: string, after: number, rule = RULE): string {
  mkdirSync(data, { recursive: true });
  const file = join(data, "schedules.json");
  new ScheduleFile(file).set("nightly", { rule, after, lastDue: null, lastSkipped: null });
  return file;
}

describe("a server that is killed while it settles a due time", () => {
  let lab: Lab;
  beforeEach(() => {
    lab = new Lab();
  });
  afterEach(() => lab.tearDown());

  it.each(["create", "append"] as const)(
    "after %s has created one run, which the next server starts and does not create again, however late it is",
    async (after) => {
      const file = writeSettledFile(lab.data, DUE - HOUR);
      const agent = lab.scenario(mainSession([{ id: "a" }]));
      const run = { template: "documentation", cwd: lab.repo, message: "write", agent };
      const nightly = ScheduleSettings.parse({ ...run, cron: "0 3 * * *", timeZone: "UTC" });
      const automation = { schedules: { nightly }, triggers: {} };
      const killed: KilledServer = { data: lab.data, file, now: DUE + 5000, automation, after };
      const { signal, stderr } = spawnSync(process.execPath, [KILLED, JSON.stringify(killed)], { encoding: "utf8" });
      expect([signal, stderr]).toEqual(["SIGKILL", ""]);
      expect(JSON.parse(readFileSync(file, "utf8")).schedules.nightly.after).toBe(DUE - HOUR);

      const local = openLocalEngine({ dataDir: lab.data });
      const { engine } = local;
      const world = { ...realWorld, now: () => DUE + 2 * HOUR };
      const next = openAutomation({ runs: engine, read: () => automation, file, world, env: {} });
      try {
        expect(engine.summaries()).toHaveLength(1);
        expect(engine.summaries()[0]!.status === "created").toBe(after === "create");
        await engine.activateAll();
        next.schedules.begin();
        await until(() => next.schedules.list()[0]!.lastDue !== null);
        expect(engine.summaries()).toHaveLength(1);
        const { id } = engine.summaries()[0]!;
        await engine.until(id, ({ status }) => status === "confirming");
        expect(next.schedules.list()).toMatchObject([
          { running: 1, lastDue: new Date(DUE).toISOString(), lastRun: { id }, lastSkipped: null },
        ]);
        await engine.order(id, "cancel");
        await engine.settled(id);
      } finally {
        await next.schedules.stop();
        await local.close();
      }
      expect(lab.leftovers()).toEqual([]);
    },
  );
});

describe("a server with a schedule", () => {
  it("starts the missed run without confirmation, and the user can start another one", async () => {
    const lab = new Lab();
    try {
      // The next due time is hours away, whenever the test runs.
      const cron = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
      writeSettledFile(lab.data, DUE, `${cron} UTC`);
      const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
      const run = { template: "documentation", cwd: lab.repo, message: "write", agent, confirm: "yes" };
      const nightly = { ...run, cron, timeZone: "UTC", missed: "once" };
      writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ schedules: { nightly } }));
      const server = await startLocalServer({ dataDir: lab.data, port: 0, host: "127.0.0.1", version: "1" });
      const { engine, url } = server;
      const at = ["--data-dir", lab.data, "--url", url];
      try {
        await until(() => engine.summaries().length === 1);
        const { id } = engine.summaries()[0]!;
        expect(await engine.until(id, ({ released }) => released)).toMatchObject({ outcome: "success" });

        const { last } = await tuttiJson<object[]>([...at, "schedules"]);
        expect(last).toMatchObject([
          { name: "nightly", running: 0, lastRun: { id, outcome: "success" }, problem: null },
        ]);
        const byHand = await tuttiJson<{ id: string }>([...at, "schedules", "run", "nightly"]);
        expect([byHand.code, byHand.last.id === id]).toEqual([0, false]);
        const unknown = await tuttiJson<object>([...at, "schedules", "run", "nobody"]);
        expect(unknown).toMatchObject({ code: 3, last: { error: { code: "not_found" } } });
        await engine.order(byHand.last.id, "cancel");
        await engine.until(byHand.last.id, ({ released }) => released);
        // Half a file, as an editor may write it for a moment.
        writeFileSync(join(lab.data, "tutti.config.json"), '{ "schedules": {');
        const { stdout, stderr } = await tutti([...at, "schedules", "list"]);
        expect(stdout).toContain(`nightly  ${cron} UTC  next `);
        expect(stderr).toContain('tutti.config.json" is not valid JSON');
      } finally {
        await server.close({ leaveRunning: false });
      }
      const serverEvents = lab.events().filter(({ type }) => type.startsWith("schedule:"));
      expect(serverEvents.map(({ run: of, data }) => [of, (data as { name: string }).name])).toEqual([
        [null, "nightly"],
        [null, "nightly"],
      ]);
      expect(lab.leftovers()).toEqual([]);
    } finally {
      lab.tearDown();
    }
  });

  it("is needed by the schedule commands, which exit with 5 without one", async () => {
    const lab = new Lab();
    try {
      const { code, last } = await tuttiJson<object>(["--data-dir", lab.data, "schedules"]);
      expect([code, last]).toMatchObject([5, { error: { code: "server_unreachable" } }]);
    } finally {
      lab.tearDown();
    }
  });
});

describe("a server with a trigger", () => {
  let lab: ServerLab;
  const SECRET = "a secret of enough characters";
  beforeEach(async () => {
    lab = await ServerLab.open();
    const agent = lab.lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    const message = "Look at {PAYLOAD.ref}";
    const push = { template: "documentation", cwd: lab.lab.repo, message, agent, secretFile: "push-secret" };
    writeFileSync(join(lab.lab.data, "push-secret"), SECRET);
    writeFileSync(join(lab.lab.data, "tutti.config.json"), JSON.stringify({ triggers: { push } }));
  });
  afterEach(() => lab.tearDown());

  const send = (body: string, more: Asked = {}, name = "push") => {
    const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
    const headers = { "x-hub-signature-256": signature, "x-github-delivery": "1", ...more.headers };
    return lab.ask(`/api/triggers/${name}`, { method: "POST", body, ...more, headers });
  };

  it("answers a signed delivery with 202 and its run, and a repeat with 200 and the same run, also after a restart", async () => {
    const first = await send('{"ref":"trunk"}');
    expect([first.status, first.json.status]).toEqual([202, "analyzing"]);
    const { orchestratorId: id } = first.json;
    expect(lab.engine.get(id)!.userRequest).toBe("Look at trunk");
    await lab.until(id, ({ status }) => status === "confirming");
    const again = await send('{"ref":"trunk"}', { headers: { "x-github-delivery": "2" } });
    expect([again.status, again.json]).toEqual([200, { orchestratorId: id, status: "confirming" }]);
    const full = await send('{"ref":"other"}');
    expect([full.status, full.json.error]).toMatchObject([409, { code: "too_many_runs", details: { runs: [id] } }]);
    await lab.engine.order(id, "cancel");
    await lab.until(id, ({ released }) => released);
    await lab.stop();
    await lab.start();
    const later = await send('{"ref":"trunk"}');
    expect([later.status, later.json]).toEqual([200, { orchestratorId: id, status: "cancelled" }]);
    expect(lab.engine.summaries()).toHaveLength(1);
    const serverEvents = lab.engine.events({}).filter(({ run }) => run === null);
    expect(serverEvents.map(({ type }) => type).filter((type) => type.startsWith("trigger:"))).toEqual([
      "trigger:fired",
      "trigger:refused",
    ]);
  });

  it("rejects a payload that is nested thousands of levels deep", async () => {
    const { status, json } = await send('{"a":'.repeat(5000) + "1" + "}".repeat(5000));
    expect([status, json.error.code]).toEqual([400, "invalid_input"]);
    expect(lab.engine.summaries()).toEqual([]);
  });

  it("asks for confirmation of a plan, even if the user consented to a project's template that spares it", async () => {
    const folder = join(lab.lab.repo, ".tutti", "templates");
    mkdirSync(folder, { recursive: true });
    const theirs = { id: "documentation", name: "Theirs", extends: "documentation", config: { autoSpawn: true } };
    writeFileSync(join(folder, "documentation.json"), JSON.stringify(theirs));
    const refused = await send('{"ref":"trunk"}');
    expect([refused.status, refused.json.error.code]).toEqual([403, "needs_trust"]);
    lab.local.trusted.add(refused.json.error.details.hash);
    const { orchestratorId: id } = (await send('{"ref":"trunk"}')).json;
    expect(lab.engine.get(id)!.template.name).toBe("Theirs");
    const planned = await lab.until(id, ({ tasks }) => tasks.length > 0);
    expect([planned.status, Object.values(planned.inbox).map(({ kind }) => kind)]).toEqual(["confirming", ["plan"]]);
    await lab.engine.order(id, "cancel");
    await lab.until(id, ({ released }) => released);
  });

  it("creates no run in a folder that the server does not allow", async () => {
    const fenced = openSchedules(lab.lab.data, lab.engine, { folders: [join(lab.lab.folder, "elsewhere")] });
    const hub = `sha256=${createHmac("sha256", SECRET).update("{}").digest("hex")}`;
    const refused = fenced.triggers.deliver("push", { hub, tutti: undefined }, Buffer.from("{}"));
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
    expect(lab.engine.summaries()).toEqual([]);
  });

  it("rejects every other request with the same error, with a token too, and applies the checks of Host, Origin and size", async () => {
    const unsigned = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
    const wrong = await send("{}", { headers: unsigned });
    expect([wrong.status, wrong.json.error.code]).toEqual([401, "unauthorized"]);
    expect((await send("{}", {}, "nobody")).json).toEqual(wrong.json);
    expect((await send("{}", { headers: { ...unsigned, ...lab.bearer } })).json).toEqual(wrong.json);
    const json = { "content-type": "application/json" };
    expect((await lab.ask("/api/triggers/push", { method: "POST", body: "{}", headers: json })).json).toEqual(
      wrong.json,
    );
    expect((await send("{}", { headers: { host: "evil.example" } })).status).toBe(403);
    expect((await send("{}", { headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await send(JSON.stringify("x".repeat(1024 * 1024)))).status).toBe(413);
    // The signature is valid for this route only.
    expect((await send("{}", { method: "PUT" })).status).toBe(401);
    expect((await send("{}", {}, "push/more")).status).toBe(401);
    expect(lab.engine.summaries()).toEqual([]);
  });
});
