// `FinishedRuns`: only a summary of an ended run stays in memory, its full state can be read, and it can be reopened.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { collectGarbage } from "../lab/collect-garbage.ts";
import { done, goodWorker, mainSession } from "../lab/scenarios.ts";
import { fold, FOLD_VERSION } from "../../src/run/apply.ts";
import { replay } from "../../src/engine/runs/replay.ts";
import { FinishedRuns } from "../../src/engine/runs/finished-runs.ts";
import { writeState } from "../../src/engine/runs/stored-state.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
  mkdirSync(lab.data, { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const open = () => {
  const store = openSqliteStore(join(lab.data, "tutti.db"));
  return { store, engine: lab.open(store, { snapshots: store.snapshots }) };
};
const config = { autoSpawn: true };
const failing = () =>
  lab.scenario([
    ...mainSession([{ id: "one" }, { id: "two" }]),
    { match: { role: "worker", task: "one", attempt: 1 }, turns: [{ block: done({ status: "failed", error: "no" }) }] },
    goodWorker,
  ]);

/** The fields that document 004 stores of an orchestrator; `stats` is `toolStats` in the state. */
const SERIALISED =
  "id templateId template mainSessionId cwd userRequest status currentPhase analysis tasks parallelGroups workers toolStats customVariables createdAt updatedAt startedAt completedAt errors";

describe("an ended run", () => {
  it("has the same summary, state and result as before, also after a restart (D4-281)", async () => {
    const { store, engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const state = JSON.parse(JSON.stringify(engine.get(id)));
    const result = await engine.result(id);
    for (const member of SERIALISED.split(" ")) expect(state, member).toHaveProperty(member, expect.anything());
    expect(state).toEqual(JSON.parse(JSON.stringify(fold(null, store.read({ run: id })))));
    await engine.close();
    const { engine: next } = open();
    expect(next.summaries()).toMatchObject([
      { id, status: "completed", outcome: "degraded", taskCount: 2, completedTasks: 1 },
    ]);
    expect(JSON.parse(JSON.stringify(next.get(id)))).toEqual(state);
    expect(await next.result(id)).toEqual(result);
    expect(next.summaries()[0]!.inbox).toMatchObject([{ kind: "failure", taskId: "one" }]);
    expect(next.get("orch_nobody")).toBeNull();
  });

  it("keeps its result when its repository is gone, with the files of its completed tasks and a warning", async () => {
    const { engine } = open();
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), goodWorker]), { config });
    await untilOver(engine, id);
    const { outputFiles, ...others } = await engine.result(id);
    expect(outputFiles).not.toEqual([]);
    const elsewhere = `${lab.repo}-moved`;
    renameSync(lab.repo, elsewhere);
    const result = await engine.result(id);
    renameSync(elsewhere, lab.repo);
    expect(result).toEqual({ ...others, outputFiles, warnings: [expect.stringContaining("does not exist")] });
  });

  it("refuses an order to start whose look at the folder lasts until after the end, as it refuses later ones", async () => {
    const { engine } = open();
    const request = { message: "Change the sample", templateId: "refactoring", agent: failing(), cwd: lab.repo };
    const { id } = await engine.create(request);
    const [bin, ended] = [join(lab.folder, "bin"), join(lab.folder, "ended")];
    mkdirSync(bin);
    const waits = `#!/bin/sh\nuntil [ -e '${ended}' ]; do sleep 0.01; done\nPATH='${process.env["PATH"]}' exec git "$@"\n`;
    writeFileSync(join(bin, "git"), waits, { mode: 0o755 });
    vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"]}`);
    const started = engine.order(id, "start").catch((error: unknown) => error);
    await engine.order(id, "cancel");
    await engine.settled(id);
    writeFileSync(ended, "");
    expect(await started).toMatchObject({ code: "wrong_state" });
  });

  it("leaves the shelf when it is reopened, and returns when it ends again", async () => {
    const { engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    await engine.close();
    const { store, engine: next } = open();
    const [item] = next.summaries()[0]!.inbox;
    await next.answer(item!.id, { option: 0 });
    await next.activate(id);
    await next.until(
      id,
      ({ status, released, outcome }) => status === "completed" && released && outcome === "success",
    );
    expect(store.read({ run: id }).filter(({ type }) => type === "orchestrator:completed")).toHaveLength(2);
    expect(next.get(id)!.outcome).toBe("success");
  });

  it("is removed with its summary and its snapshot", async () => {
    const { store, engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    await engine.cleanup(id);
    expect(engine.summaries()).toEqual([]);
    expect(store.snapshots.load(id)).toBeNull();
    await engine.close();
    expect(open().engine.summaries()).toEqual([]);
  });

  it("leaves nothing in memory once it is removed, however many there were", async () => {
    const { store, engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const finished = new FinishedRuns(store, store.snapshots);
    const run = { ...engine.get(id)!, released: false };
    const addAndRemove = (count: number) => {
      for (let i = 0; i < count; i++) {
        const each = { ...run, id: Buffer.alloc(10_000, `orch_${i}_`).toString("latin1") };
        finished.noted(each, 1, 1);
        finished.take(each.id);
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = addAndRemove(10);
    expect(addAndRemove(5000) - before).toBeLessThan(25_000_000);
  });
});

describe("a snapshot", () => {
  it("at any event, with the later events, folds to the same state as the whole log", async () => {
    const { store, engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    const events = store.read({ run: id });
    const whole = JSON.parse(JSON.stringify(fold(null, events)));
    for (let at = 1; at <= events.length; at++) {
      const state = fold(null, events.slice(0, at))!;
      const last = events[at - 1]!;
      const save = {
        runSeq: last.runSeq,
        seq: last.seq,
        fold: FOLD_VERSION,
        over: false,
        summary: "{}",
        state: writeState(state),
      };
      const finished = new FinishedRuns(store, { load: () => save, overview: () => [], save: () => {} });
      expect(JSON.parse(JSON.stringify(finished.fold(id)))).toEqual(whole);
    }
  });

  it("keeps the start order of the workers, whatever their task ids", async () => {
    const { store, engine } = open();
    const agent = lab.scenario([...mainSession([{ id: "20" }, { id: "b" }, { id: "3" }]), goodWorker]);
    const id = await lab.begin(engine, agent, { config });
    await untilOver(engine, id);
    const events = store.read({ run: id });
    const whole = fold(null, events)!;
    expect(Object.keys(whole.workers)).toEqual(["20", "b", "3"]);
    await engine.close();
    const { store: again, engine: next } = open();
    expect(again.snapshots.load(id)!.over).toBe(true);
    expect(Object.keys(next.get(id)!.workers)).toEqual(["20", "b", "3"]);
    expect(replay(events, next.get(id)).problems).toEqual([]);
    // Equal also after a plain JSON round trip, which reorders keys.
    expect(replay(events, JSON.parse(JSON.stringify(whole))).problems).toEqual([]);
    expect(replay(events, { ...whole, agent: "another" }).problems).toHaveLength(1);
  });

  it("of another fold version or of an older state is not used", async () => {
    const { store, engine } = open();
    const id = await lab.begin(engine, failing(), { config });
    await untilOver(engine, id);
    await engine.close();
    const again = openSqliteStore(join(lab.data, "tutti.db"));
    const found = again.snapshots.load(id)!;
    expect(found.over).toBe(true);
    const wrong = { ...found, fold: 0, state: '{"status":"nonsense"}', summary: '{"status":"nonsense"}' };
    const finished = new FinishedRuns(again, {
      load: () => wrong,
      overview: () => [{ ...wrong, run: id }],
      save: () => {},
    });
    expect(finished.open()).toMatchObject([{ id, status: "completed" }]);
    const older = { ...found, seq: found.seq - 1, runSeq: found.runSeq - 1 };
    expect(
      new FinishedRuns(again, { load: () => null, overview: () => [{ ...older, run: id }], save: () => {} }).open(),
    ).toHaveLength(1);
    await again.close();
    void store;
  });
});
