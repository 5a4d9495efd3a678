import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ReadPace } from "../../src/server/read-pace.ts";

const MEGABYTE = 1024 * 1024;

/** Pauses end when the test says so. */
function pacedByHand() {
  const pauses: { ms: number; end: () => void }[] = [];
  const pace = new ReadPace((ms) => new Promise<void>((resolve) => void pauses.push({ ms, end: resolve })));
  return { pace, pauses };
}

describe("the pace of large answers", () => {
  it("gives one reader a part in each turn of the event loop, so that other requests are answered between two", async () => {
    const { pace } = pacedByHand();
    const parts: number[] = [];
    const readers = [1, 2, 3, 4].map(async (reader) => {
      await pace.turn();
      parts.push(reader);
    });
    const seen: number[] = [];
    while (parts.length < 4) {
      await nextTurn();
      seen.push(parts.length);
    }
    await Promise.all(readers);
    const steps = seen.map((count, i) => count - (seen[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1);
  });

  it("pauses all readers after 2 MB, and goes on after the pause", async () => {
    const { pace, pauses } = pacedByHand();
    const read = async (bytes: number) => {
      await pace.turn();
      pace.count(bytes);
    };
    for (const bytes of [MEGABYTE, MEGABYTE]) await read(bytes);
    expect(pauses).toEqual([]);
    let done = 0;
    const waiting = [1, 2].map(() => read(1).then(() => (done += 1)));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect([done, pauses.map(({ ms }) => ms)]).toEqual([0, [40]]);
    pauses[0]!.end();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect([done, pauses.length]).toEqual([2, 1]);
    await Promise.all(waiting);
    // 2 MB in 40 ms are 50 MB in a second.
    await read(2 * MEGABYTE);
    const next = read(1);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(pauses).toHaveLength(2);
    pauses[1]!.end();
    await next;
  });
});
