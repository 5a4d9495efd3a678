// Retention removes ended runs in the background, and nothing else.
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { tuttiJson } from "../cli/in-process.ts";
import { done, goodWorker, mainSession } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { keepTrimmed } from "../../src/engine/runs/retention.ts";
import { announceServer } from "../../src/cli/access/server-file.ts";
import { startLocalServer } from "../../src/main/local-server.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { realWorld } from "../../src/world.ts";

const DAY = 24 * 60 * 60 * 1000;
let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const config = { autoSpawn: true };
const agentOf = (name: string, ...workers: object[]) =>
  lab.scenario([...mainSession([{ id: "one" }]), ...workers, goodWorker], `${name}.json`);
const fails = {
  match: { role: "worker", task: "one", attempt: 1 },
  turns: [{ block: done({ status: "failed", error: "no" }) }],
};
/** A world in which `days` days have passed. */
const later = (days: number) => ({ ...realWorld, now: () => realWorld.now() + days * DAY });
const ids = (engine: Engine) => engine.summaries().map(({ id }) => id);

describe("retention", () => {
  it("removes old runs with their sessions and kept work, and keeps their branches and their `seq` numbers", async () => {
    mkdirSync(lab.data, { recursive: true });
    const store = openSqliteStore(join(lab.data, "tutti.db"));
    const engine = lab.open(store, { snapshots: store.snapshots });
    const old = await lab.begin(engine, agentOf("old"), { config });
    await untilOver(engine, old);
    // One run is over but has an open inbox item; another was never started.
    const speechless = lab.scenario([{ match: { role: "main" }, turns: [{ say: "hm" }] }], "speechless.json");
    const waiting = await lab.begin(engine, speechless);
    const { status, inbox } = await untilOver(engine, waiting);
    expect([status, Object.values(inbox).map(({ kind }) => kind)]).toEqual(["error", ["data"]]);
    const request = { templateId: "_default", cwd: lab.repo, message: "x", agent: "local" };
    const { id: created } = await engine.create(request);
    const before = engine.lastSeq();
    const problems: unknown[] = [];
    const watch = { engine, world: later(31), failed: (error: unknown) => problems.push(error) };
    const end = keepTrimmed({ ...watch, rules: () => ({ days: 30 }) });
    while (ids(engine).includes(old)) await sleep(10);
    await end();
    expect(ids(engine)).toEqual([waiting, created]);
    expect(problems).toEqual([]);
    expect(engine.events({ run: old })).toEqual([]);
    const removed = engine.events({}).filter(({ type }) => type === "log:removed");
    expect(removed.length).toBeGreaterThan(10);
    expect(engine.events({}).map(({ seq }) => seq)).toEqual(Array.from({ length: engine.lastSeq() }, (_, i) => i + 1));
    expect(engine.lastSeq()).toBeGreaterThan(before);
    expect(lab.git("branch", "--list", `tutti/${old}`)).toContain(old);
    expect(lab.git("for-each-ref", `refs/tutti/${old}`)).toBe("");
  });

  it("keeps a run that was reopened after the check", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, agentOf("again", fails), { config });
    expect((await untilOver(engine, id)).outcome).toBe("failed");
    await engine.order(id, "retry", { taskId: "one" });
    const remove = { removeState: true, onlyEnded: true };
    await expect(engine.cleanup(id, remove)).rejects.toMatchObject({ code: "wrong_state" });
    expect((await untilOver(engine, id)).outcome).toBe("success");
    await engine.cleanup(id, remove);
    expect(engine.get(id)).toBeNull();
  });
});

describe("tutti prune", () => {
  it("removes or only lists the runs that the flags or the configuration do not keep; a server removes them by itself", async () => {
    mkdirSync(lab.data, { recursive: true });
    const store = openSqliteStore(join(lab.data, "tutti.db"));
    const engine = lab.open(store, { snapshots: store.snapshots });
    const made: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const { id } = await engine.create({ templateId: "_default", cwd: lab.repo, message: name, agent: "local" });
      made.push(id);
      await sleep(2);
    }
    for (const id of made.slice(0, 3)) {
      await engine.order(id, "cancel");
      await engine.until(id, ({ released }) => released);
      await sleep(2);
    }
    await engine.close();
    lab.engines.pop();
    const [first, second, third, open] = made as [string, string, string, string];
    const prune = (...flags: string[]) => tuttiJson(["--data-dir", lab.data, "prune", ...flags]);
    expect(await prune()).toMatchObject({ code: 2, last: { error: { code: "usage" } } });
    expect((await prune("--days", "1")).last).toEqual({ removed: [], failed: [] });
    expect((await prune("--keep", "2", "--dry-run")).last).toEqual({ dryRun: true, outdated: [first] });
    expect((await prune("--keep", "0", "--days", "0", "--dry-run")).last).toEqual({
      dryRun: true,
      outdated: [first, second, third],
    });
    const configure = (retention: object) =>
      writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ retention }));
    for (const [odd, why] of [
      [{}, "days or keepRuns"],
      [{ days: 0 }, "retention.days"],
    ] as const) {
      configure(odd);
      expect((await prune()).last).toMatchObject({ error: { code: "usage", message: expect.stringContaining(why) } });
    }
    configure({ keepRuns: 2 });
    expect((await prune()).last).toEqual({ removed: [first], failed: [] });
    // The same through a server on the folder.
    const where = { dataDir: lab.data, port: 0, host: "127.0.0.1", version: "1" };
    const server = await startLocalServer(where);
    const takeBack = announceServer(lab.data, { url: server.url, ownToken: false });
    expect((await prune("--keep", "1")).last).toEqual({ removed: [second], failed: [] });
    takeBack();
    await server.close({ leaveRunning: false });
    // And automatically when a server starts.
    configure({ keepRuns: 0 });
    const trimming = await startLocalServer(where);
    while (trimming.engine.get(third) !== null) await sleep(10);
    await trimming.close({ leaveRunning: false });
    const { last } = await tuttiJson<{ id: string }[]>(["--data-dir", lab.data, "list"]);
    expect(last.map(({ id }) => id)).toEqual([open]);
  });
});
