import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { callsIn } from "../../src/engine/hooks.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { runCommand } from "../../src/session/run-command.ts";
import { newMemoryDisk } from "../../src/store/memory.ts";
import type { EventQuery } from "../../src/store/store.ts";
import { FaultyStore } from "../store/faulty-store.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

/** Counts the readings of logs of runs. */
class CountingStore extends FaultyStore {
  count = 0;

  override read(query: EventQuery): StoredEvent[] {
    if (query.run != null) this.count++;
    return super.read(query);
  }
}

const hook = (run: string, more: object = {}) => ({ run, timeout: 600_000, onFailure: "continue" as const, ...more });
const config = { autoSpawn: true };
const env = { PATH: process.env["PATH"]! };
const commands = {
  runCommand: (command: string, options: { cwd: string; stdin: string; timeoutMs: number }) =>
    runCommand(command, { ...options, env }),
};
const good = () => lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
const ended = (store: FaultyStore) =>
  store.read({}).flatMap((event) => (event.type === "hook:ended" ? [event.data] : []));

describe("a hook", () => {
  it("that is a function is called once for each event, with the event (D4-397, D4-587)", async () => {
    const store = new FaultyStore();
    const calls: string[] = [];
    const note = (name: string) => (event: { type: string }) => void calls.push(`${name} ${event.type}`);
    const names = [
      "onAnalysisComplete",
      "onTasksGenerated",
      "onWorkerStart",
      "onWorkerComplete",
      "onAllWorkersComplete",
    ];
    const engine = lab.open(store, { hooks: Object.fromEntries(names.map((name) => [`note ${name}`, note(name)])) });
    const hooks = Object.fromEntries(names.map((name) => [name, hook(`note ${name}`)]));
    const id = await lab.begin(engine, good(), { config, hooks });
    await untilOver(engine, id);
    await engine.settled(id);
    expect(calls.toSorted()).toEqual([
      "onAllWorkersComplete orchestrator:phaseChanged",
      "onAnalysisComplete orchestrator:analysisComplete",
      "onTasksGenerated orchestrator:tasksReady",
      "onWorkerComplete worker:completed",
      "onWorkerComplete worker:completed",
      "onWorkerStart worker:started",
      "onWorkerStart worker:started",
    ]);
    expect(ended(store)).toHaveLength(7);
    expect(ended(store).every(({ ok }) => ok)).toBe(true);
  });

  it("that is a command receives the event as JSON on stdin, in the repository's folder (E75)", async () => {
    const engine = lab.open(new FaultyStore(), commands);
    const file = join(lab.folder, "received.json");
    const id = await lab.begin(engine, good(), {
      config,
      hooks: { onTasksGenerated: hook(`command:sh -c 'pwd > ${file}.cwd; cat > ${file}'`) },
    });
    await untilOver(engine, id);
    await engine.settled(id);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      type: "orchestrator:tasksReady",
      run: id,
      data: { taskCount: 2 },
    });
    expect(readFileSync(`${file}.cwd`, "utf8").trim()).toBe(lab.repo);
  });

  it.each([
    ["throws", "function", {}, "broken"],
    ["takes too long", "command:sleep 600", { timeout: 300 }, "longer than 300 ms"],
    ["names no program", "command:/nowhere/program", {}, "ENOENT"],
    ["exits with a code", "command:sh -c 'echo why; exit 3'", {}, "exit code 3: why"],
  ])("that %s is recorded and does not affect the run", async (_, run, more, detail) => {
    const store = new FaultyStore();
    const functions = {
      function: () => {
        throw new Error("broken");
      },
    };
    const engine = lab.open(store, { hooks: functions, ...commands });
    const id = await lab.begin(engine, good(), { config, hooks: { onTasksGenerated: hook(run, more) } });
    const { outcome } = await untilOver(engine, id);
    await engine.settled(id);
    expect(outcome).toBe("success");
    expect(ended(store)).toMatchObject([
      { hook: "onTasksGenerated", ok: false, detail: expect.stringContaining(detail) },
    ]);
  });

  it('that fails pauses the run with `onFailure: "pause"`', async () => {
    const engine = lab.open(new FaultyStore(), commands);
    const id = await lab.begin(engine, good(), {
      hooks: { onTasksGenerated: hook("command:false", { onFailure: "pause" }) },
    });
    const run = await engine.until(id, ({ status }) => status === "paused");
    expect(run.pausedFrom).toMatchObject({ status: "confirming", reason: "hook" });
    await engine.order(id, "resume");
    await engine.order(id, "confirm");
    expect((await untilOver(engine, id)).outcome).toBe("success");
  });

  it("runs for failed tasks and for the failed run (D4-397)", async () => {
    const received: string[] = [];
    const engine = lab.open(new FaultyStore(), { hooks: { note: ({ type }) => void received.push(type) } });
    const failing = worker("*", { block: done({ status: "failed", error: "no" }) });
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), failing]), {
      config,
      hooks: { onError: hook("note") },
    });
    await untilOver(engine, id);
    await engine.settled(id);
    expect(received).toEqual(["worker:failed", "orchestrator:error"]);
  });

  it("that ran when the engine stopped is not run again, and one that had not started is run", async () => {
    const disk = newMemoryDisk();
    const file = join(lab.folder, "count");
    const command = `command:sh -c 'echo x >> ${file}; sleep 60'`;
    const first = new FaultyStore(disk);
    const engine = lab.open(first, commands);
    const id = await lab.begin(engine, good(), { hooks: { onTasksGenerated: hook(command, { timeout: 60_000 }) } });
    await engine.until(id, ({ hooks }) => Object.keys(hooks).length === 1);
    // The shell creates the file before it writes to it.
    await expect.poll(() => readFileSync(file, "utf8")).toBe("x\n");
    const next = new FaultyStore(disk);
    const heir = lab.open(next, commands);
    await heir.activate(id);
    await heir.until(id, ({ hooks }) => Object.values(hooks).every((state) => state === "ended"));
    expect(readFileSync(file, "utf8")).toBe("x\n");
    expect(ended(next)).toMatchObject([{ ok: false, detail: expect.stringContaining("not run again") }]);
    await heir.order(id, "cancel");
    await untilOver(heir, id);
  });

  it("is run by the next engine if the engine stopped between the end of the run and the hook", async () => {
    const disk = newMemoryDisk();
    const store = new FaultyStore(disk);
    const received: string[] = [];
    const hooks = { note: ({ type }: { type: string }) => void received.push(type) };
    const engine = lab.open(store, { hooks });
    engine.subscribe(({ type }) => type === "orchestrator:error" && store.failNext("before"));
    const failing = worker("*", { block: done({ status: "failed", error: "no" }) });
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), failing]), {
      config,
      hooks: { onError: hook("note") },
    });
    await expect(engine.halted).rejects.toMatchObject({ code: "storage_failed" });
    await engine.close();
    expect(received).not.toContain("orchestrator:error");
    const heir = lab.open(new FaultyStore(disk), { hooks });
    await heir.activate(id);
    await heir.until(id, ({ released }) => released);
    await heir.settled(id);
    expect(received).toContain("orchestrator:error");
  });

  it("is looked for in the log after a restart only if the template has one", async () => {
    const reads = async (hooks: object): Promise<number> => {
      const disk = newMemoryDisk();
      const engine = lab.open(new FaultyStore(disk), { hooks: { note: () => {} } });
      const id = await lab.begin(engine, good(), { config: { autoSpawn: false }, hooks });
      await engine.until(id, ({ status }) => status === "confirming");
      await engine.close();
      const store = new CountingStore(disk);
      const heir = lab.open(store, { hooks: { note: () => {} } });
      const { count } = store;
      await heir.activate(id);
      return store.count - count;
    };
    expect(await reads({ onError: hook("note") })).toBe(1);
    expect(await reads({})).toBe(0);
  });

  it("depends on the phase at its event, not on the run's current phase", () => {
    const event = (type: string, data: object, i: number) => ({ type, data, runSeq: i + 1 }) as unknown as StoredEvent;
    const log = [
      ["orchestrator:started", { phase: "analysis" }],
      ["orchestrator:phaseChanged", { previousPhase: "analysis", currentPhase: "workerExecution" }],
      ["orchestrator:phaseChanged", { previousPhase: "workerExecution", currentPhase: "aggregation" }],
      ["orchestrator:completed", {}],
      ["orchestrator:reopened", { phase: "workerExecution" }],
      ["orchestrator:completed", {}],
    ].map(([type, data], i) => event(type as string, data as object, i));
    expect(callsIn(log, null).map((call) => `${call.name} ${call.event.runSeq}`)).toEqual([
      "onAllWorkersComplete 3",
      "onAllWorkersComplete 6",
    ]);
    expect(callsIn(log.slice(0, 5), null)).toHaveLength(1);
    expect(callsIn(log.slice(3, 4), "workerExecution")).toHaveLength(1);
  });

  it("with an unregistered name is rejected before the run exists", async () => {
    const engine = lab.open();
    await expect(lab.begin(engine, good(), { hooks: { onError: hook("nobody") } })).rejects.toMatchObject({
      code: "invalid_template",
    });
    expect(engine.list()).toEqual([]);
  });
});
