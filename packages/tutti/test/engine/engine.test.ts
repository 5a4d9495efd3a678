import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { agentOf } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import { fold } from "../../src/run/apply.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { createKeeperHost } from "../../src/session/keeper/keeper-host.ts";
import { newMemoryDisk } from "../../src/store/memory.ts";
import { FaultyStore } from "../store/faulty-store.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";
import { realWorld } from "../../src/world.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const twoTasks = () => lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);

describe("the engine", () => {
  it("publishes every event with the state that the stored log folds to", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    const seen: number[] = [];
    engine.subscribe((event, run) => {
      seen.push(event.seq);
      if (run && event.runSeq === run.runSeq) expect(run).toEqual(fold(null, store.read({ run: run.id })));
    });
    const id = await lab.begin(engine, twoTasks());
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ status: "completed", released: true });
    expect(engine.get(id)).toEqual(fold(null, store.read({ run: id })));
    expect(seen).toEqual(store.read({}).map(({ seq }) => seq));
  });

  it("runs several runs within the server's worker limit and numbers their events without gaps", async () => {
    const store = new FaultyStore();
    const plan = { tasks: ["a", "b", "c", "d"].map((id) => ({ id, ms: 150 })) };
    const ledger = join(lab.folder, "ledger");
    const engine = lab.open(store, { maxWorkers: 3, agentEnv: { PLAN: JSON.stringify(plan), LEDGER: ledger } });
    let active = 0;
    let most = 0;
    engine.subscribe(({ type }) => {
      if (type === "worker:spawning") active++;
      if (type === "worker:completed" || type === "worker:failed") active--;
      most = Math.max(most, active);
    });
    const agent = agentOf("command", "team.ts");
    const ids = await Promise.all([lab.begin(engine, agent), lab.begin(engine, agent)]);
    const runs = await Promise.all(ids.map((id) => untilOver(engine, id)));
    expect(runs.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(most).toBe(3);
    expect(store.read({}).map(({ seq }) => seq)).toEqual(store.read({}).map((_, i) => i + 1));
    expect(lab.leftovers()).toEqual([]);
  });

  it("keeps tasks with the same id in two runs apart (E06)", async () => {
    const engine = lab.open();
    const ids = await Promise.all([lab.begin(engine, twoTasks()), lab.begin(engine, twoTasks())]);
    const runs = await Promise.all(ids.map((id) => untilOver(engine, id)));
    const [first, second] = runs.map((run) => run.workers["one"]!.sessionId);
    expect(first).not.toBe(second);
    expect(runs.map((run) => run.workers["one"]!.status)).toEqual(["completed", "completed"]);
  });

  it("ends a worker that times out, with its whole process tree, and continues without it (D4-045, D4-248)", async () => {
    const world = new SteeredWorld();
    const engine = lab.open(new FaultyStore(), { world });
    const agent = lab.scenario([
      ...mainSession([{ id: "slow" }, { id: "quick" }]),
      worker("slow", { tools: ["Read"], then: "hang" }),
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent, { config: { workerTimeout: 900_000, autoSpawn: true } });
    await engine.until(
      id,
      ({ workers: { slow, quick } }) => slow?.session.turn != null && quick?.status === "completed",
    );
    await world.pass(900_000);
    const run = await untilOver(engine, id);
    expect(run.workers["slow"]).toMatchObject({ status: "timeout", error: "Worker timed out after 900000ms" });
    expect(await engine.result(id)).toMatchObject({
      outcome: "degraded",
      census: { planned: 2, completed: 1, timeout: 1 },
    });
    expect(lab.leftovers()).toEqual([]);
  });

  it("reads results from before its start before it checks deadlines", async () => {
    lab.inProcess = false;
    const disk = newMemoryDisk();
    const first = lab.open(new FaultyStore(disk));
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("*", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) }),
    ]);
    const id = await lab.begin(first, agent, { config: { workerTimeout: 900_000 } });
    await first.until(id, ({ status }) => status === "confirming");
    await first.order(id, "confirm");
    const { workers } = await first.until(id, (run) => run.workers["one"]?.session.turn != null);
    await first.close({ leaveRunning: true });
    gate.open();
    const output = join(lab.data, "sessions", id, workers["one"]!.sessionId, "output.log");
    await expect.poll(() => readFileSync(output, "utf8")).toContain("turn_end");
    const second = lab.open(new FaultyStore(disk), { world: new SteeredWorld(3_600_000) });
    await second.activate(id);
    const run = await untilOver(second, id);
    expect(run.workers["one"]).toMatchObject({ status: "completed", attempt: 1 });
  });

  it("fails a task whose agent writes a request to its own keeper, and retries it only on demand", async () => {
    lab.inProcess = false;
    const store = new FaultyStore();
    const engine = lab.open(store);
    const agent = lab.scenario([...mainSession([{ id: "one" }]), worker("*", { waitForFile: lab.gate().file })]);
    const id = await lab.begin(engine, agent, { config: { autoRetry: true } });
    await engine.until(id, ({ status }) => status === "confirming");
    await engine.order(id, "confirm");
    const { workers } = await engine.until(id, (run) => run.workers["one"]?.session.turn != null);
    const requests = join(lab.data, "sessions", id, workers["one"]!.sessionId, "requests");
    await expect.poll(() => existsSync(join(requests, "turn-000001.json"))).toBe(true);
    writeFileSync(join(requests, "answer-x.json"), JSON.stringify({ type: "answer", askId: "x", text: "yes" }));
    const run = await untilOver(engine, id);
    expect(run.workers["one"]).toMatchObject({ status: "failed", attempt: 1, errorCode: "request_forged" });
    const failed = store.read({ run: id }).find(({ type }) => type === "worker:failed");
    expect(failed?.data).toMatchObject({ error: expect.stringContaining('"answer-x.json"') });
    expect(lab.leftovers()).toEqual([]);
  });

  it("fails a task whose agent writes more than the limit, and says how to raise it", async () => {
    const host = createKeeperHost({
      folder: join(lab.data, "sessions"),
      engineFile: join(lab.data, "engine.json"),
      world: realWorld,
      maxOutputBytes: () => 1_000_000,
    });
    const store = new FaultyStore();
    const engine = lab.open(store, { sessions: host });
    const flooding = worker("*", { say: "x".repeat(1_100_000), then: "hang" });
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), flooding]), {
      config: { autoSpawn: true, autoRetry: false },
    });
    const run = await untilOver(engine, id);
    expect(run.workers["one"]).toMatchObject({ status: "failed", errorCode: "output_too_large" });
    const failed = store.read({ run: id }).find(({ type }) => type === "worker:failed");
    expect(failed?.data).toMatchObject({ error: expect.stringMatching(/more than 1 MB .* "sessions.maxOutputMb"/) });
    expect(lab.leftovers()).toEqual([]);
  });

  it("pauses a run whose session files cannot be written, until the user resumes it", async () => {
    const disk = newMemoryDisk();
    const host = createKeeperHost({
      folder: join(lab.data, "sessions"),
      engineFile: join(lab.data, "engine.json"),
      world: realWorld,
    });
    let isReadOnly = true;
    const open: typeof host.open = (spec) => {
      if (isReadOnly) throw new TuttiError("unwritable", "The disk is read-only.");
      return host.open(spec);
    };
    const sessions = { ...host, open };
    const first = lab.open(new FaultyStore(disk), { sessions });
    const id = await lab.begin(first, twoTasks());
    const { pausedFrom } = await first.until(id, ({ status }) => status === "paused");
    expect(pausedFrom).toMatchObject({ status: "analyzing", reason: "environment", detail: "The disk is read-only." });
    // Resumed too early, it pauses again.
    await first.order(id, "resume");
    await first.until(id, ({ status }) => status === "paused");
    await first.close();
    isReadOnly = false;
    const second = lab.open(new FaultyStore(disk), { sessions });
    await second.activate(id);
    expect(second.get(id)!.status).toBe("paused");
    await second.order(id, "resume");
    expect(await untilOver(second, id)).toMatchObject({ status: "completed", errors: [] });
    expect(lab.leftovers()).toEqual([]);
  });

  it.each(["prepare", "snapshot", "integrate", "openBranch"] as const)(
    "pauses a run if the machine does not allow to %s its work, and continues it without a lost attempt",
    async (method) => {
      const store = new FaultyStore();
      let isFull = true;
      const isMain = (key: unknown) => (key as { name?: string }).name === "main";
      const real = createGitWorkspaces({ folder: join(lab.data, "worktrees") });
      const work = real[method] as (...args: unknown[]) => Promise<unknown>;
      const limited = async (...args: unknown[]) => {
        if (!isFull || isMain(args[1])) return work(...args);
        const details = { output: "everything that git said" };
        throw new TuttiError("disk_full", "The disk is full (1 MB free).", { details });
      };
      const engine = lab.open(store, { workspaces: { ...real, [method]: limited } });
      const agent = lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
      const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
      const { pausedFrom } = await engine.until(id, ({ status }) => status === "paused");
      expect(pausedFrom).toMatchObject({ reason: "environment", detail: "The disk is full (1 MB free)." });
      // Resumed too early, it pauses again.
      await engine.order(id, "resume");
      await engine.until(id, ({ status }) => status === "paused");
      isFull = false;
      await engine.order(id, "resume");
      const run = await untilOver(engine, id);
      expect(run).toMatchObject({ outcome: "success", errors: [], workers: { one: { attempt: 1, retryCount: 0 } } });
      const paused = store.read({ run: id }).filter(({ type }) => type === "orchestrator:paused");
      expect(paused.map(({ data }) => (data as { output?: string }).output)).toEqual(
        paused.map(() => "everything that git said"),
      );
      expect(lab.leftovers()).toEqual([]);
    },
  );

  /** An engine that cannot commit the work of the task `one` while the disk is full. */
  function onDisk(disk: { isFull: boolean }) {
    const real = createGitWorkspaces({ folder: join(lab.data, "worktrees") });
    const snapshot: typeof real.snapshot = (cwd, key, ...rest) => {
      if (disk.isFull && key.name === "one") throw new TuttiError("disk_full", "The disk is full (1 MB free).");
      return real.snapshot(cwd, key, ...rest);
    };
    return lab.open(new FaultyStore(), { workspaces: { ...real, snapshot } });
  }

  it("does not count the attempt of an agent that died while the disk was full", async () => {
    const disk = { isFull: true };
    const engine = onDisk(disk);
    const dying = { match: { role: "worker", attempt: 1 }, turns: [{ write: { "half.md": "h" }, then: "crash" }] };
    const agent = lab.scenario([...mainSession([{ id: "one" }]), dying, goodWorker]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    const { pausedFrom } = await engine.until(id, ({ status }) => status === "paused");
    expect(pausedFrom).toMatchObject({ reason: "environment", detail: "The disk is full (1 MB free)." });
    disk.isFull = false;
    await engine.order(id, "resume");
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", workers: { one: { attempt: 2, retryCount: 0, losses: 0 } } });
    expect(lab.leftovers()).toEqual([]);
  });

  it("takes the answer of an agent that has exited when the disk has room again", async () => {
    const disk = { isFull: true };
    const engine = onDisk(disk);
    const exits = { write: { "whole.md": "w" }, block: done({}), then: "exit:1" };
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      { match: { role: "worker", attempt: 1 }, turns: [exits] },
    ]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    await engine.until(id, ({ status }) => status === "paused");
    disk.isFull = false;
    await engine.order(id, "resume");
    const run = await untilOver(engine, id);
    expect(run).toMatchObject({ outcome: "success", workers: { one: { attempt: 1, outputFiles: ["whole.md"] } } });
  });

  it("continues a run that is reopened during its release", async () => {
    const engine = lab.open();
    const main = mainSession([{ id: "one" }]).slice(1);
    const agent = lab.scenario([
      { match: { role: "main", phase: "analysis" }, turns: [{ say: "Hm." }] },
      ...main,
      goodWorker,
    ]);
    const id = await lab.begin(engine, agent);
    const failed = await engine.until(id, ({ status }) => status === "error");
    await engine.supply(Object.keys(failed.inbox)[0]!, { summary: "by hand", recommended_splits: 1 });
    expect((await untilOver(engine, id)).status).toBe("completed");
    expect(lab.leftovers()).toEqual([]);
  });

  it("stores the work of a failed worker in a ref before it removes the workspace", async () => {
    const engine = lab.open();
    const agent = lab.scenario([
      ...mainSession([{ id: "half" }]),
      worker("*", { write: { "half.txt": "half done\n" }, then: "crash" }),
    ]);
    const id = await lab.begin(engine, agent);
    await untilOver(engine, id);
    const refs = lab.git("for-each-ref", "--format=%(refname)", `refs/tutti/${id}/half`).split("\n");
    expect(refs.map((ref) => lab.git("ls-tree", "--name-only", ref)).join()).toContain("half.txt");
    expect(lab.leftovers()).toEqual([]);
  });

  it("does not change a run before `activate`", async () => {
    const disk = newMemoryDisk();
    const first = lab.open(new FaultyStore(disk));
    const id = await lab.begin(first, twoTasks());
    await first.until(id, ({ status }) => status === "confirming");
    await first.close();
    const events = disk.events.length;
    const second = lab.open(new FaultyStore(disk));
    expect(second.get(id)!.status).toBe("confirming");
    await second.close();
    expect(disk.events).toHaveLength(events);
    const third = lab.open(new FaultyStore(disk));
    await third.activate(id);
    expect((await untilOver(third, id)).status).toBe("completed");
  });

  it("does not count slots of runs before `activate`", async () => {
    const disk = newMemoryDisk();
    const hanging = lab.scenario([...mainSession([{ id: "one" }]), worker("*", { then: "hang" })], "hanging.json");
    const first = lab.open(new FaultyStore(disk), { maxWorkers: 1 });
    const resting = await lab.begin(first, hanging);
    await first.until(resting, ({ status }) => status === "confirming");
    await first.order(resting, "confirm");
    await first.until(resting, (run) => run.workers["one"]?.status === "running");
    await first.close();
    const second = lab.open(new FaultyStore(disk), { maxWorkers: 1 });
    expect((await untilOver(second, await lab.begin(second, twoTasks()))).status).toBe("completed");
    expect(second.get(resting)!.workers["one"]!.status).toBe("running");
  });

  it("rejects a command for an unknown run or in a wrong state, without an event", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    await expect(engine.order("orch_missing00000", "start")).rejects.toMatchObject({ code: "run_not_found" });
    const id = await lab.begin(engine, twoTasks());
    const before = store.lastSeq();
    await expect(engine.order(id, "confirm")).rejects.toMatchObject({ code: "wrong_state" });
    expect(store.read({ after: before }).map(({ type }) => type)).not.toContain("orchestrator:confirmed");
    await engine.order(id, "cancel");
    await engine.settled(id);
  });

  it("creates no run from an invalid request", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    const make = (more: object) =>
      engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent: twoTasks(), ...more });
    await expect(make({ templateId: "none" })).rejects.toMatchObject({ code: "template_not_found" });
    await expect(make({ agent: "nobody" })).rejects.toMatchObject({ code: "agent_unknown" });
    await expect(make({ message: "  " })).rejects.toMatchObject({ code: "invalid_input" });
    expect(store.lastSeq()).toBe(0);
    expect(engine.list()).toEqual([]);
  });
});

describe("a failing store", () => {
  it.each(["full", "before", "lost"] as const)(
    "(%s) halts the engine and rejects waiting callers, and a restart completes the run without loss",
    async (fault) => {
      const disk = newMemoryDisk();
      const store = new FaultyStore(disk);
      const engine = lab.open(store);
      const id = await lab.begin(
        engine,
        lab.scenario([
          ...mainSession([{ id: "one" }, { id: "two" }]),
          worker("*", { write: { "docs/{TASK_ID}.md": "x" }, block: done({}) }),
        ]),
      );
      await engine.until(id, ({ status }) => status === "confirming");
      await engine.order(id, "confirm");
      const unsubscribe = engine.subscribe(({ type }) => type === "worker:started" && store.failNext(fault));
      const code = fault === "full" ? "disk_full" : "storage_failed";
      await expect(engine.until(id, ({ status }) => status === "completed")).rejects.toMatchObject({ code });
      unsubscribe();
      await expect(engine.order(id, "cancel")).rejects.toMatchObject({ code });
      await engine.close();
      expect(lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
      const next = lab.open(new FaultyStore(disk));
      await next.activate(id);
      const run = await untilOver(next, id);
      expect(run).toMatchObject({
        status: "completed",
        workers: { one: { status: "completed" }, two: { status: "completed" } },
      });
      expect(lab.leftovers()).toEqual([]);
    },
  );

  it("rejects the command whose event was not stored and leaves the state unchanged", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    store.failNext("full");
    await expect(
      engine.create({ templateId: "_default", cwd: lab.repo, message: "x", agent: twoTasks() }),
    ).rejects.toMatchObject({ code: "disk_full" });
    expect(engine.list()).toEqual([]);
    expect(store.lastSeq()).toBe(0);
  });
});
