import { describe, expect, it } from "vitest";
import { storeConformance, told } from "./conformance.ts";
import { newMemoryDisk } from "../../src/store/memory.ts";
import { FaultyStore } from "./faulty-store.ts";

storeConformance("memory", () => {
  const disk = newMemoryDisk();
  return { open: () => new FaultyStore(disk), cleanUp: () => {} };
});

describe("a memory store with an injected fault", () => {
  it("before the write stores nothing and then works again", async () => {
    const store = new FaultyStore();
    store.failNext("before", "full");
    await expect(store.append("a", 0, [told("1")])).rejects.toMatchObject({ code: "storage_failed" });
    await expect(store.append("a", 0, [told("1")])).rejects.toMatchObject({ code: "disk_full" });
    expect(store.lastSeq()).toBe(0);
    await store.append("a", 0, [told("1")]);
  });

  it("after the write has stored everything and rejects further writes until it is reopened", async () => {
    const disk = newMemoryDisk();
    const store = new FaultyStore(disk);
    store.failNext("lost");
    await expect(store.append("a", 0, [told("1")])).rejects.toMatchObject({ code: "storage_failed" });
    await expect(store.append("a", 1, [told("2")])).rejects.toMatchObject({ code: "storage_failed" });
    expect(new FaultyStore(disk).read({})).toHaveLength(1);
  });

  it("before a removal keeps the run, and after it has removed the run and rejects further writes", async () => {
    const disk = newMemoryDisk();
    const store = new FaultyStore(disk);
    await store.append("a", 0, [told("1")]);
    store.failNext("before", "full", "lost");
    const remove = () => store.remove("a", { timestamp: 2 });
    await expect(remove()).rejects.toMatchObject({ code: "storage_failed" });
    await expect(remove()).rejects.toMatchObject({ code: "disk_full" });
    expect(store.runs()).toEqual(["a"]);
    await expect(remove()).rejects.toMatchObject({ code: "storage_failed" });
    await expect(store.append("b", 0, [told("2")])).rejects.toMatchObject({ code: "storage_failed" });
    expect(new FaultyStore(disk).runs()).toEqual([]);
  });
});
