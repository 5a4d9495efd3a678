import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { newMemoryDisk } from "../../src/store/memory.ts";
import { FaultyStore } from "../store/faulty-store.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const imported = (id: string) => ({ type: "orchestrator:imported", data: { id } }) as const;

describe("the server's own log", () => {
  it("shares the sequence of the runs, keeps the order of the calls, and publishes events without a run", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    const received: [StoredEvent, unknown][] = [];
    engine.subscribe((event, run) => received.push([event, run]));
    const first = engine.append(imported("1"), imported("2"));
    const second = engine.append(imported("3"));
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), goodWorker]), {
      config: { autoSpawn: true },
    });
    await untilOver(engine, id);
    await engine.settled(id);
    expect((await first).map(({ runSeq }) => runSeq)).toEqual([1, 2]);
    expect((await second).map(({ runSeq }) => runSeq)).toEqual([3]);
    const serverEvents = received.filter(([event]) => event.run === null);
    expect(serverEvents.map(([event, run]) => [event.data, run])).toEqual(
      ["1", "2", "3"].map((each) => [{ id: each }, null]),
    );
    expect(received.map(([event]) => event).toSorted((a, b) => a.seq - b.seq)).toEqual(store.read({}));
  });

  it("continues its numbering after a restart", async () => {
    const disk = newMemoryDisk();
    const engine = lab.open(new FaultyStore(disk));
    await engine.append(imported("1"));
    await engine.close();
    const next = lab.open(new FaultyStore(disk));
    expect(await next.append(imported("2"))).toMatchObject([{ seq: 2, runSeq: 2, run: null }]);
  });

  it("halts with the engine when the store fails, and publishes no event that was not stored", async () => {
    const store = new FaultyStore();
    const engine = lab.open(store);
    const received: StoredEvent[] = [];
    engine.subscribe((event) => received.push(event));
    store.failNext("before");
    const lost = engine.append(imported("1"));
    const after = engine.append(imported("2"));
    await expect(lost).rejects.toMatchObject({ code: "storage_failed" });
    await expect(after).rejects.toMatchObject({ code: "storage_failed" });
    await expect(engine.halted).rejects.toMatchObject({ code: "storage_failed" });
    expect(received).toEqual([]);
    expect(store.read({})).toEqual([]);
  });
});
