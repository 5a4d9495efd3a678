// Events that belong to no run: in the same sequence, durable before they are heard of.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const told = (id: string) => ({ type: "orchestrator:imported", data: { id } }) as const;

describe("the server's own log", () => {
  it("stands in one sequence with the runs, in the order in which it was told, and is heard without a run", async () => {
    const store = new MemoryStore();
    const engine = lab.open(store);
    const heard: [StoredEvent, unknown][] = [];
    engine.subscribe((event, run) => heard.push([event, run]));
    const first = engine.tell(told("1"), told("2"));
    const second = engine.tell(told("3"));
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), goodWorker]), {
      config: { autoSpawn: true },
    });
    await untilOver(engine, id);
    await engine.settled(id);
    expect((await first).map(({ runSeq }) => runSeq)).toEqual([1, 2]);
    expect((await second).map(({ runSeq }) => runSeq)).toEqual([3]);
    const own = heard.filter(([event]) => event.run === null);
    expect(own.map(([event, run]) => [event.data, run])).toEqual(["1", "2", "3"].map((each) => [{ id: each }, null]));
    expect(heard.map(([event]) => event).toSorted((a, b) => a.seq - b.seq)).toEqual(store.read({}));
  });

  it("goes on after a restart where it was", async () => {
    const disk = newMemoryDisk();
    const engine = lab.open(new MemoryStore(disk));
    await engine.tell(told("1"));
    await engine.close();
    const next = lab.open(new MemoryStore(disk));
    expect(await next.tell(told("2"))).toMatchObject([{ seq: 2, runSeq: 2, run: null }]);
  });

  it("stops with the engine when the store fails, and tells nobody what was not stored", async () => {
    const store = new MemoryStore();
    const engine = lab.open(store);
    const heard: StoredEvent[] = [];
    engine.subscribe((event) => heard.push(event));
    store.failNext("before");
    const lost = engine.tell(told("1"));
    const after = engine.tell(told("2"));
    await expect(lost).rejects.toMatchObject({ code: "storage_failed" });
    await expect(after).rejects.toMatchObject({ code: "storage_failed" });
    await expect(engine.halted).rejects.toMatchObject({ code: "storage_failed" });
    expect(heard).toEqual([]);
    expect(store.read({})).toEqual([]);
  });
});
