// The log of simulated engines, repeated in PostgreSQL: every open, append, removal and late write, with lost connections.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DiskUse } from "./sim-store.ts";
import { Simulation } from "./simulation.ts";
import { cutConnections, newDatabase, withPostgres } from "../lab/postgres.ts";
import type { NewEvent } from "../../src/store/store.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres/postgres-store.ts";

/** The number of kinds in `DiskUse`. Seeds are tried until all have occurred. */
const KINDS = 4;
/** Connections are cut after this many uses. */
const CUT_EVERY = 40;

describe("the log of a simulation", () => {
  it(
    "is the same in PostgreSQL, over crashes, late writes and lost connections",
    withPostgres(async () => {
      const seen = new Set<string>();
      for (let seed = 1; seen.size < KINDS; seed++) {
        const uses: DiskUse[] = [];
        const { violation } = await new Simulation({ seed, record: (use) => uses.push(use) }).run();
        expect(violation).toBeNull();
        if (uses.every(({ kind }) => seen.has(kind))) continue;
        for (const { kind } of uses) seen.add(kind);
        await repeat(uses);
      }
    }),
  );
});

async function repeat(uses: readonly DiskUse[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-replica-"));
  const url = await newDatabase();
  const stores: PostgresStore[] = [];
  const expected = new Map<number, object>();
  let pending: Promise<unknown>[] = [];
  try {
    for (const [i, use] of uses.entries()) {
      const store = stores.at(-1)!;
      if (use.kind === "append") {
        for (const event of use.events) expected.set(event.seq, event);
        const { run, runSeq } = use.events[0]!;
        const appended = store.append(run, runSeq - 1, use.events.map(newEventOf));
        pending.push(appended.then((stored) => expect(stored).toEqual(use.events)));
      } else if (use.kind === "remove") {
        pending.push(store.remove(use.run, use));
      } else {
        // A store that is opened, or a write that must be refused, comes after all acknowledged writes.
        await Promise.all(pending);
        pending = [];
        if (use.kind === "open") stores.push(await openPostgresStore({ url, replica: join(folder, "replica.db") }));
        else await refuse(stores[use.epoch - 1]!.append(use.run, use.expected, use.events));
      }
      if (i % CUT_EVERY === CUT_EVERY - 1) await cutConnections(url);
    }
    await Promise.all(pending);
    const log = stores.at(-1)!.read({});
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
    expect(log).toHaveLength(expected.size);
    const kept = log.filter(({ runSeq }) => runSeq > 0);
    expect(kept).toEqual(kept.map(({ seq }) => expected.get(seq)));
  } finally {
    await Promise.allSettled(pending);
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const refuse = (appended: Promise<unknown>) => expect(appended).rejects.toMatchObject({ code: "stale_epoch" });

const newEventOf = ({ type, data, timestamp }: { type: string; data: unknown; timestamp: number }): NewEvent =>
  ({ type, data, timestamp }) as NewEvent;
