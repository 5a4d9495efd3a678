// Commands to a run during its removal, and listeners that throw: neither may affect other runs.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession } from "../lab/scenarios.ts";
import { waitUntil } from "../lab/wait-until.ts";
import { MemoryStore } from "../../src/store/memory.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const config = { autoSpawn: true };
const failing = () =>
  lab.scenario([
    ...mainSession([{ id: "one" }, { id: "two" }]),
    { match: { role: "worker", task: "one", attempt: 1 }, turns: [{ block: done({ status: "failed", error: "no" }) }] },
    goodWorker,
  ]);

/** A store whose `remove` is slow. */
class SlowStore extends MemoryStore {
  readonly begun = Promise.withResolvers<void>();
  readonly go = Promise.withResolvers<void>();

  override async remove(...what: Parameters<MemoryStore["remove"]>): Promise<void> {
    this.begun.resolve();
    await this.go.promise;
    await super.remove(...what);
  }
}

describe("a run that is being removed", () => {
  it("rejects every command, and the engine keeps running", async () => {
    const store = new SlowStore();
    const engine = lab.open(store);
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const removal = engine.cleanup(id);
    await store.begun.promise;
    await expect(engine.order(id, "retry", { taskId: "one" })).rejects.toMatchObject({
      code: "wrong_state",
      message: `Run "${id}" is being removed. Send no more commands to it.`,
    });
    store.go.resolve();
    await removal;
    expect(engine.get(id)).toBeNull();
    expect((await untilOver(engine, await lab.begin(engine, failing(), { config }))).status).toBe("completed");
  });

  it("is removed once, and unknown to removals that were requested meanwhile", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const [first, ...others] = await Promise.allSettled(Array.from({ length: 4 }, () => engine.cleanup(id)));
    expect(first).toMatchObject({ status: "fulfilled", value: { removed: true } });
    const unknown = { status: "rejected", reason: { code: "run_not_found" } };
    expect(others).toMatchObject([unknown, unknown, unknown]);
  });

  it("stays if it was reopened before: an acknowledged command is not lost", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const retries: Promise<unknown>[] = [];
    engine.subscribe(({ type }) => {
      if (type === "workers:archived") retries.push(engine.order(id, "retry", { taskId: "one" }));
    });
    await expect(engine.cleanup(id)).rejects.toMatchObject({ code: "wrong_state" });
    expect(retries).toHaveLength(1);
    await Promise.all(retries);
    await engine.until(id, ({ outcome, released }) => outcome === "success" && released);
    await engine.settled(id);
  });
});

it.each([
  ["whose folder is gone", ""],
  ["whose repository is no longer in its folder", ".git"],
])("removes a run %s, and leaves the work in its workspaces", async (_, lost) => {
  const engine = lab.open();
  const scenario = lab.scenario([
    ...mainSession([{ id: "one" }]),
    { match: { role: "worker" }, turns: [{ write: { "kept.txt": "work\n" }, tools: ["Write"], then: "hang" }] },
  ]);
  const id = await lab.begin(engine, scenario, { config });
  const file = join(lab.data, "worktrees", id, "one-1/kept.txt");
  await waitUntil(() => existsSync(file));
  rmSync(join(lab.repo, lost), { recursive: true });
  expect(await engine.cleanup(id)).toMatchObject({ removed: true, workspacesLeft: true });
  expect([engine.get(id), readFileSync(file, "utf8")]).toEqual([null, "work\n"]);
});

describe("a listener", () => {
  it("that throws causes a process warning, and the engine keeps running", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    try {
      const engine = lab.open();
      const seen: string[] = [];
      engine.subscribe(() => {
        throw new Error("broken listener");
      });
      engine.subscribe(({ type }) => void seen.push(type));
      const id = await lab.begin(engine, failing(), { config });
      const broken = engine.until(id, ({ status }) => {
        if (status === "running") throw new Error("broken question");
        return false;
      });
      await expect(broken).rejects.toThrow("broken question");
      expect((await untilOver(engine, id)).status).toBe("completed");
      expect(seen).toContain("orchestrator:completed");
      expect(warned).toHaveBeenCalledWith(expect.objectContaining({ message: "broken listener" }));
    } finally {
      warned.mockRestore();
    }
  });
});
