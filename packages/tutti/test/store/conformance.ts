// The conformance suite that every `Store` must pass.
import { afterEach, describe, expect, it } from "vitest";
import type { NewEvent, Store } from "../../src/store/store.ts";

export interface StoreUnderTest {
  /** Opens the same storage again without closing the open store, as a process after a crash would. */
  open(): Store | Promise<Store>;
  cleanUp(): void;
}

export const told = (text: string, timestamp = 1): NewEvent => ({
  type: "task:blocked",
  data: { id: "r", taskId: text, because: [] },
  timestamp,
});

export function storeConformance(name: string, make: () => StoreUnderTest | Promise<StoreUnderTest>): void {
  describe(`the ${name} store`, () => {
    let subject: StoreUnderTest;
    const stores: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await subject.open();
      stores.push(store);
      return store;
    };
    const fresh = async (): Promise<Store> => {
      subject = await make();
      return open();
    };
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      subject.cleanUp();
    });

    it("reads events in append order, numbered over the store and within each run", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("1"), told("2", 7)]);
      await store.append("b", 0, () => [told("3")]);
      expect(await store.append("b", 1, () => [])).toEqual([]);
      await store.append("a", 2, [told("4")]);
      await store.append(null, 0, [told("5")]);
      const all = store.read({});
      expect(all.map(({ seq, run, runSeq }) => [seq, run, runSeq])).toEqual([
        [1, "a", 1],
        [2, "a", 2],
        [3, "b", 1],
        [4, "a", 3],
        [5, null, 1],
      ]);
      expect(all[1]).toEqual({ ...told("2", 7), seq: 2, run: "a", runSeq: 2 });
      expect(store.read({ run: "a" }).map(({ seq }) => seq)).toEqual([1, 2, 4]);
      expect(store.read({ after: 2, limit: 2 }).map(({ seq }) => seq)).toEqual([3, 4]);
      expect(store.read({ run: "a", after: 1, limit: 1 }).map(({ seq }) => seq)).toEqual([2]);
      expect(store.runs()).toEqual(["a", "b"]);
      expect(store.lastSeq()).toBe(5);
    });

    it("ends a page with the event that fills it, forwards and backwards, and reads the same events raw", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("x".repeat(500)), told("y".repeat(500)), told("z".repeat(500))]);
      const seqs = (query: object) => store.read(query).map(({ seq }) => seq);
      expect([1, 600, 700, 5000].map((maxBytes) => seqs({ maxBytes }).length)).toEqual([1, 2, 2, 3]);
      expect(seqs({ run: "a", before: 4, maxBytes: 600 })).toEqual([2, 3]);
      expect(seqs({ run: "a", after: 1, maxBytes: 1 })).toEqual([2]);
      const raw = store.readRaw({ maxBytes: 600 });
      expect(raw.map((event) => ({ ...event, data: JSON.parse(event.data) as unknown }))).toEqual(
        store.read({ limit: 2 }),
      );
    });

    it("rejects events that have no JSON form, alone, and continues", async () => {
      const store = await fresh();
      let deep: unknown = {};
      for (let i = 0; i < 20_000; i++) deep = { deep };
      const event = told("1");
      Object.assign(event.data, { deep });
      const [sound, rejected] = await Promise.allSettled([
        store.append("a", 0, [told("1")]),
        store.append("b", 0, [event]),
      ]);
      expect([sound.status, rejected.status]).toEqual(["fulfilled", "rejected"]);
      expect((rejected as PromiseRejectedResult).reason).toMatchObject({ code: "not_encodable" });
      await store.append("b", 0, [told("2")]);
      expect(store.read({}).map(({ run, runSeq }) => [run, runSeq])).toEqual([
        ["a", 1],
        ["b", 1],
      ]);
    });

    it("reads a run in pages, forwards and backwards, with other events in between", async () => {
      const store = await fresh();
      const next: Record<string, number> = {};
      const append = async (run: string | null, count: number) => {
        const at = (next[`${run}`] ??= 0);
        await store.append(
          run,
          at,
          Array.from({ length: count }, (_, i) => told(`${at + i}`)),
        );
        next[`${run}`] = at + count;
      };
      for (let i = 0; i < 12; i++) {
        await append("a", 1 + (i % 3));
        await append(["b", null, "gone"][i % 3]!, 1 + (i % 2));
      }
      await store.remove("gone", { timestamp: 2 });
      const all = store.read({});
      for (const run of ["a", "b", null, "gone", "nobody", undefined]) {
        const mine = all.filter((event) => run === undefined || (event.run === run && event.runSeq > 0));
        for (let seq = 0; seq <= all.length + 1; seq++) {
          const of = run === undefined ? {} : { run };
          const [later, earlier] = [mine.filter((each) => each.seq > seq), mine.filter((each) => each.seq < seq)];
          expect(store.read({ ...of, after: seq })).toEqual(later);
          expect(store.read({ ...of, after: seq, limit: 2 })).toEqual(later.slice(0, 2));
          expect(store.read({ ...of, before: seq })).toEqual(earlier);
          expect(store.read({ ...of, before: seq, limit: 2 })).toEqual(earlier.slice(-2));
          expect(store.read({ ...of, after: 3, before: seq, limit: 3 })).toEqual(
            earlier.filter((each) => each.seq > 3).slice(-3),
          );
        }
      }
    });

    it("returns from an append exactly what it stored", async () => {
      const store = await fresh();
      const stored = await store.append("a", 0, [told("1"), told("2")]);
      expect(stored).toEqual(store.read({}));
    });

    it("rejects an append with a wrong `expected`, and stores none of its events", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("1")]);
      for (const expected of [0, 2]) {
        await expect(store.append("a", expected, [told("x"), told("y")])).rejects.toMatchObject({
          code: "append_conflict",
        });
      }
      await expect(store.append("new", 1, [told("x")])).rejects.toMatchObject({ code: "append_conflict" });
      expect(store.lastSeq()).toBe(1);
      await store.append("a", 1, [told("2")]);
      expect(store.read({}).map(({ seq }) => seq)).toEqual([1, 2]);
    });

    it("accepts one of two concurrent appends with the same `expected` and rejects the other", async () => {
      const store = await fresh();
      const results = await Promise.allSettled([
        store.append("a", 0, [told("1")]),
        store.append("a", 0, [told("2")]),
        store.append("b", 0, [told("3")]),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(store.read({}).map(({ run, runSeq }) => [run, runSeq])).toEqual([
        ["a", 1],
        ["b", 1],
      ]);
    });

    it("numbers the events of many concurrent writers without a gap", async () => {
      const store = await fresh();
      const write = async (run: string) => {
        for (let i = 0; i < 25; i++) await store.append(run, i, [told(`${i}`)]);
      };
      await Promise.all(Array.from({ length: 20 }, (_, i) => write(`run-${i}`)));
      const all = store.read({});
      expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
      for (let i = 0; i < 20; i++)
        expect(store.read({ run: `run-${i}` }).map(({ runSeq }) => runSeq)).toEqual(
          Array.from({ length: 25 }, (_, n) => n + 1),
        );
    });

    it("keeps everything over a restart, and continues the numbering", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("ä \u0000 \u2028 🎭")]);
      await store.close();
      const again = await open();
      expect(again.read({})).toMatchObject([{ seq: 1, data: { taskId: "ä \u0000 \u2028 🎭" } }]);
      expect(await again.append("a", 1, [told("2")])).toMatchObject([{ seq: 2, runSeq: 2 }]);
    });

    it("rejects appends of a writer after a newer one has opened the store", async () => {
      const old = await fresh();
      await old.append("a", 0, [told("1")]);
      const young = await open();
      expect(young.epoch).toBe(old.epoch + 1);
      await expect(old.append("a", 1, [told("late")])).rejects.toMatchObject({ code: "stale_epoch" });
      await young.append("a", 1, [told("2")]);
      expect(young.read({}).map((event) => event.data)).toEqual([told("1").data, told("2").data]);
    });

    const removed = (seq: number, timestamp: number) => ({
      type: "log:removed",
      data: {},
      timestamp,
      seq,
      run: null,
      runSeq: 0,
    });

    it("removes a run for good, and keeps each of its events as an empty entry", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("1"), told("2")]);
      await store.append("b", 0, [told("3")]);
      await store.append(null, 0, [told("4")]);
      await store.append("a", 2, [told("5")]);
      await store.remove("a", { timestamp: 99 });
      const expected = [
        removed(1, 99),
        removed(2, 99),
        { ...told("3"), seq: 3, run: "b", runSeq: 1 },
        { ...told("4"), seq: 4, run: null, runSeq: 1 },
        removed(5, 99),
      ];
      expect(store.read({})).toEqual(expected);
      expect(store.read({ run: "a" })).toEqual([]);
      expect(store.runs()).toEqual(["b"]);
      expect(store.lastSeq()).toBe(5);
      await store.close();
      expect((await open()).read({})).toEqual(expected);
    });

    it("restarts the numbering for the id of a removed run, and continues the server's log", async () => {
      const store = await fresh();
      await store.append("a", 0, [told("1")]);
      await store.remove("a", { timestamp: 2 });
      await expect(store.append("a", 1, [told("late")])).rejects.toMatchObject({ code: "append_conflict" });
      expect(await store.append(null, 0, [told("2")])).toMatchObject([{ seq: 2, runSeq: 1 }]);
      expect(await store.append("a", 0, [told("3")])).toMatchObject([{ seq: 3, runSeq: 1 }]);
      await store.remove("a", { timestamp: 4 });
      expect(await store.append(null, 1, [told("4")])).toMatchObject([{ seq: 4, runSeq: 2 }]);
      expect(await store.append("a", 0, [told("5")])).toMatchObject([{ seq: 5, runSeq: 1 }]);
      expect(store.read({}).map(({ seq, run, timestamp }) => [seq, run, timestamp])).toEqual([
        [1, null, 2],
        [2, null, 1],
        [3, null, 4],
        [4, null, 1],
        [5, "a", 1],
      ]);
      expect(store.runs()).toEqual(["a"]);
      expect(store.read({ run: null }).map(({ seq, runSeq }) => [seq, runSeq])).toEqual([
        [2, 1],
        [4, 2],
      ]);
      expect(store.read({ run: null, after: 2 }).map(({ seq }) => seq)).toEqual([4]);
    });

    it("removes events appended before the removal, not those appended after it", async () => {
      const store = await fresh();
      const appended = store.append("a", 0, [told("1")]);
      const removal = store.remove("a", { timestamp: 2 });
      const anew = store.append("a", 0, [told("2")]);
      await expect(Promise.all([appended, removal, anew])).resolves.toMatchObject([
        [{ seq: 1 }],
        undefined,
        [{ seq: 2 }],
      ]);
      expect(store.read({})).toEqual([removed(1, 2), { ...told("2"), seq: 2, run: "a", runSeq: 1 }]);
    });

    it("ignores the removal of an unknown run, and never removes the server's log", async () => {
      const store = await fresh();
      await store.append(null, 0, [told("1")]);
      await store.append("a", 0, [told("2")]);
      for (const run of ["b", "", "null"]) await store.remove(run, { timestamp: 3 });
      for (let i = 0; i < 2; i++) await store.remove("a", { timestamp: 4 + i });
      expect(store.read({})).toEqual([{ ...told("1"), seq: 1, run: null, runSeq: 1 }, removed(2, 4)]);
    });

    it("rejects removals of a writer that was replaced or is closed", async () => {
      const old = await fresh();
      await old.append("a", 0, [told("1")]);
      const young = await open();
      await expect(old.remove("a", { timestamp: 2 })).rejects.toMatchObject({ code: "stale_epoch" });
      await old.close();
      await expect(old.remove("a", { timestamp: 2 })).rejects.toMatchObject({ code: "engine_stopped" });
      expect(young.read({})).toEqual([{ ...told("1"), seq: 1, run: "a", runSeq: 1 }]);
    });

    it("completes pending appends when it is closed, and rejects later ones", async () => {
      const store = await fresh();
      const pending = store.append("a", 0, [told("1")]);
      await store.close();
      await expect(pending).resolves.toHaveLength(1);
      await expect(store.append("a", 1, [told("2")])).rejects.toMatchObject({ code: "engine_stopped" });
    });
  });
}
