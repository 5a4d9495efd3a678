// `RunWriter` batches concurrent commands into one append and answers each only after it is on disk.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RunWriter } from "../../src/engine/run-writer.ts";
import { makeTemplate } from "../run/make-run.ts";
import { NO_TOOLS } from "../../src/schema/worker.ts";
import { openSqliteReader, openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { realWorld } from "../../src/world.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-group-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ID = "orch_000000000000";
const count = (tool: number) => ({
  type: "record" as const,
  event: {
    type: "orchestrator:progress" as const,
    data: { id: ID, stats: NO_TOOLS, currentAction: `step ${tool}` },
  },
});

it("`RunWriter` stores concurrent changes in one write and resolves each after it is on disk (D4-283/E78, D4-594/E78)", async () => {
  const file = join(folder, "tutti.db");
  const store = openSqliteStore(file);
  let writes = 0;
  const counted: Pick<Store, "append"> = {
    append: (...given) => {
      writes += 1;
      return store.append(...given);
    },
  };
  const writer = new RunWriter({
    id: ID,
    run: null,
    store: counted as Store,
    world: realWorld,
    published: () => {},
    failed: (error) => {
      throw error;
    },
    followUps: () => null,
    seal: (command) => command,
    lookAtClock: () => {},
  });
  await writer.submit({
    type: "create",
    id: ID,
    templateId: "test",
    template: makeTemplate(),
    cwd: folder,
    message: "do it",
    customVariables: {},
    agent: "local",
  });
  expect(writes).toBe(1);
  const onDisk = (): number => {
    const reader = openSqliteReader(file);
    const { length } = reader.read({ run: ID });
    reader.close();
    return length;
  };
  const seen = await Promise.all(
    Array.from({ length: 100 }, (_, i) => writer.submit(count(i)).then(({ runSeq }) => [runSeq, onDisk()])),
  );
  expect(writes).toBe(2);
  for (const [runSeq, stored] of seen) expect(stored).toBeGreaterThanOrEqual(runSeq!);
  expect(onDisk()).toBe(101);
  await store.close();
});

it("`RunWriter` rejects only the command whose events have no JSON form, and continues", async () => {
  const store = openSqliteStore(join(folder, "tutti.db"));
  const failures: unknown[] = [];
  const writer = new RunWriter({
    id: ID,
    run: null,
    store,
    world: realWorld,
    published: () => {},
    failed: (error) => void failures.push(error),
    followUps: () => null,
    seal: (command) => command,
    lookAtClock: () => {},
  });
  const create = { type: "create" as const, id: ID, templateId: "test", template: makeTemplate(), cwd: folder };
  await writer.submit({ ...create, message: "do it", customVariables: {}, agent: "local" });
  let deep: unknown = "the end";
  for (let i = 0; i < 20_000; i++) deep = [deep];
  const poisoned = count(2);
  Object.assign(poisoned.event.data, { deep });
  const results = await Promise.allSettled([count(1), poisoned, count(3)].map((command) => writer.submit(command)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: "not_encodable" });
  expect(failures).toEqual([]);
  expect(store.read({ run: ID })).toHaveLength(3);
  await store.close();
});
