// A fork reuses results of the run it was forked from by their work key, in any order of completion; all other work is
// done again.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { OrderInput } from "../../src/schema/api/orders.ts";
import { workersOf } from "../../src/run/lookup.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { attemptRef, runBranch } from "../../src/schema/ids.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore, newMemoryDisk, type MemoryDisk } from "../../src/store/memory.ts";

/** Generous: the tests start many processes on a machine that may be busy. */
const HANG_MS = 600_000;

const phases = { analysis: { enabled: false }, aggregation: { enabled: false } };

/** Tasks with a session in this run itself, without the copied events. */
function tasksWithSession(engine: Engine, run: Run): string[] {
  const events = engine.events({ run: run.id });
  const newEvents = events.slice(events.findLastIndex(({ type }) => type === "orchestrator:forked") + 1);
  return newEvents.flatMap((event) => (event.type === "worker:spawned" ? [event.data.taskId] : [])).toSorted();
}

const reusedTasks = (run: Run): string[] =>
  workersOf(run)
    .flatMap(({ taskId, reused }) => (reused ? [taskId] : []))
    .toSorted();

const placeOf = (engine: Engine, id: string, type: StoredEvent["type"]): number =>
  engine.events({ run: id }).find((event) => event.type === type)!.runSeq;

/** Continues a fork, with `changes` to a plan that is not confirmed yet. */
async function continueFork(engine: Engine, { id }: Run, changes: OrderInput<"confirm"> = {}): Promise<Run> {
  await engine.activate(id);
  const { status } = await engine.order(id, "resume");
  if (status === "confirming") await engine.order(id, "confirm", changes);
  return untilOver(engine, id);
}

describe("an interrupted run of nine tasks", () => {
  const tasks: ScriptedTask[] = [
    ...["a", "b", "c", "d", "e", "f", "g"].map((id) => ({ id })),
    { id: "h", dependencies: ["e"] },
    { id: "i", dependencies: ["b", "h"] },
  ];
  const rest = ["b", "i"];
  const finished = tasks.map(({ id }) => id).filter((id) => !rest.includes(id));

  it(
    "runs only the remaining tasks, in forks at any event and by itself, in any order of completion",
    async () => {
      const lab = new EngineLab();
      try {
        const disk = newMemoryDisk();
        const stuck = worker("b", { write: { "half.md": "half\n" }, then: "hang" });
        const agent = lab.scenario([...mainSession(tasks), stuck, goodWorker]);
        const first = lab.open(new MemoryStore(disk));
        const id = await lab.begin(first, agent, { phases, config: { maxWorkers: 7 } });
        await first.until(id, ({ status }) => status === "confirming");
        await first.order(id, "confirm");
        await first.until(id, ({ workers }) => finished.every((task) => workers[task]?.status === "completed"));
        await first.close();

        lab.scenario([...mainSession(tasks), goodWorker]);
        const second = lab.open(new MemoryStore(disk));
        const completions = second.events({ run: id }).filter(({ type }) => type === "worker:completed");
        const atPlan = await continueFork(
          second,
          await second.fork(id, placeOf(second, id, "orchestrator:tasksReady")),
        );
        expect(reusedTasks(atPlan)).toEqual(finished);
        const midway = await second.fork(id, completions[2]!.runSeq);
        const copied = workersOf(midway).flatMap(({ taskId, status }) => (status === "completed" ? [taskId] : []));
        const forkedMidway = await continueFork(second, midway);
        expect([...copied, ...reusedTasks(forkedMidway)].toSorted()).toEqual(finished);
        for (const fork of [atPlan, forkedMidway]) {
          expect(fork.outcome).toBe("success");
          expect(tasksWithSession(second, fork)).toEqual(rest);
          const files = lab.git("ls-tree", "-r", "--name-only", runBranch(fork.id), "docs/").split("\n");
          expect(files).toEqual(tasks.map((task) => `docs/${task.id}.md`));
        }
        await second.activate(id);
        const itself = await untilOver(second, id);
        expect(itself.outcome).toBe("success");
        expect(tasksWithSession(second, itself)).toEqual([...finished, ...rest, "b"].toSorted());
        // The unfinished work of the stopped attempt is still reachable.
        expect(lab.git("show", `${attemptRef(id, "b", 1)}:half.md`)).toBe("half");
      } finally {
        for (const engine of lab.engines) await engine.close();
        lab.tearDown();
      }
    },
    HANG_MS,
  );
});

describe("a fork of a finished run", () => {
  const two = [{ id: "one" }, { id: "two" }];
  let lab: EngineLab;
  let disk: MemoryDisk;
  let engine: Engine;
  let origin: Run;
  let atPlan: number;

  beforeAll(async () => {
    lab = new EngineLab();
    disk = newMemoryDisk();
    engine = lab.open(new MemoryStore(disk));
    const agent = lab.scenario([...mainSession(two), goodWorker]);
    lab.scenario([...mainSession(two), goodWorker], "other.json");
    const id = await lab.begin(engine, agent, { phases });
    const { updatedAt } = await engine.until(id, ({ status }) => status === "confirming");
    // A fork contains all events of the same millisecond, so the confirmation must come later than the plan.
    await vi.waitUntil(() => Date.now() > updatedAt, { interval: 1 });
    origin = await untilOver(engine, id);
    atPlan = placeOf(engine, origin.id, "orchestrator:tasksReady");
  });
  afterAll(async () => {
    for (const each of lab.engines) await each.close();
    lab.tearDown();
  });

  /** Another engine, on a changed copy of the log. */
  const rewritten = (change: (event: StoredEvent) => string | null): Engine => {
    const events = disk.events.map((event) => JSON.parse(change(event) ?? JSON.stringify(event)) as StoredEvent);
    return lab.open(new MemoryStore({ epoch: 0, events }));
  };

  it("reuses a result as completed, without cost or session, and records its origin", async () => {
    const planned = await engine.fork(origin.id, atPlan);
    const fork = await continueFork(engine, planned);
    expect(await engine.result(fork.id)).toMatchObject({
      outcome: "success",
      census: { planned: 2, completed: 2 },
      outputFiles: ["docs/one.md", "docs/two.md"],
    });
    expect(tasksWithSession(engine, fork)).toEqual([]);
    expect(fork.sessions).toBe(planned.sessions);
    expect(fork.usage).toEqual(planned.usage);
    const made = origin.workers["one"]!;
    expect(fork.workers["one"]).toMatchObject({
      reused: { run: origin.id, taskId: "one", sessionId: made.sessionId },
      output: "wrote one",
      startedAt: null,
    });
    expect(lab.git("rev-parse", attemptRef(fork.id, "one", 1))).toBe(fork.workers["one"]!.commit);
    expect(engine.summaries().find(({ id }) => id === fork.id)!.completedTasks).toBe(2);
    expect(lab.leftovers()).toEqual([]);
  });

  it("reuses a result in a fork of a fork, also at an event before the first fork", async () => {
    const middle = await continueFork(engine, await engine.fork(origin.id, atPlan));
    const late = await engine.fork(middle.id, placeOf(engine, middle.id, "orchestrator:confirmed"));
    const early = await engine.fork(middle.id, atPlan - 1);
    expect(early.forkedFrom).toMatchObject({ run: middle.id });
    for (const fork of [late, early]) {
      const after = await continueFork(engine, fork);
      expect(tasksWithSession(engine, after)).toEqual([]);
      expect(after.workers["one"]!.reused).toEqual(middle.workers["one"]!.reused);
    }
  });

  it("bases a reused result on its own start commit if that has the same files", async () => {
    lab.git("commit", "-q", "--allow-empty", "-m", "nothing new");
    const fork = await engine.fork(origin.id, 1);
    await engine.activate(fork.id);
    await engine.order(fork.id, "start");
    const after = await untilOver(engine, fork.id);
    expect(reusedTasks(after)).toEqual(["one", "two"]);
    const [before, commit] = [origin.workers["one"]!.commit!, after.workers["one"]!.commit!];
    expect(commit).not.toBe(before);
    expect(lab.git("rev-parse", `${commit}^`)).toBe(after.base);
    expect(lab.git("rev-parse", `${commit}^{tree}`)).toBe(lab.git("rev-parse", `${before}^{tree}`));
    expect(lab.git("show", `${runBranch(fork.id)}:docs/two.md`)).toBe("# Title of two");
  });

  it("matches a result by its work key, not by its task id, and uses it for one task only", async () => {
    const { title, description, scope } = origin.tasks[0]!;
    const same = { title, description, scope, priority: 9, dependencies: [] };
    const added = [
      { ...same, id: "uno" },
      { ...same, id: "one_more" },
    ];
    const fork = await continueFork(engine, await engine.fork(origin.id, atPlan), { removed: ["one"], added });
    expect(fork.outcome).toBe("success");
    expect(reusedTasks(fork)).toContain("two");
    expect(reusedTasks(fork)).toHaveLength(2);
    expect(tasksWithSession(engine, fork)).toHaveLength(1);
  });

  it("reuses nothing with `fresh`", async () => {
    const planned = await engine.fork(origin.id, atPlan, { fresh: true });
    expect(tasksWithSession(engine, await continueFork(engine, planned))).toEqual(["one", "two"]);
  });

  it("repeats only the task whose text was changed", async () => {
    const changes = { modifications: { one: { description: "Do one, and do it well" } } };
    const fork = await continueFork(engine, await engine.fork(origin.id, atPlan), changes);
    expect(tasksWithSession(engine, fork)).toEqual(["one"]);
    expect(reusedTasks(fork)).toEqual(["two"]);
  });

  it("repeats work after a change of the agent, the prompt or the acceptance rules", async () => {
    const changes = [
      ["scenario.json", "other.json"],
      ["You are a worker", "You work"],
      ['"acceptWithoutWork":false', '"acceptWithoutWork":true'],
    ];
    const forks = await Promise.all(changes.map(() => engine.fork(origin.id, atPlan)));
    const other = rewritten((event) => {
      const text = JSON.stringify(event);
      const [old, young] = changes[forks.findIndex(({ id }) => id === event.run)] ?? [];
      if (event.type !== "orchestrator:created" || !old) return null;
      expect(text).toContain(old);
      return text.replaceAll(old, young!);
    });
    for (const fork of forks) {
      const after = await continueFork(other, fork, { removed: ["two"] });
      expect(tasksWithSession(other, after)).toEqual(["one"]);
    }
  });

  it("repeats work if a file of the base commit has changed", async () => {
    lab.write("README.md", "# Another project\n");
    lab.git("commit", "-q", "-a", "-m", "second");
    const fork = await engine.fork(origin.id, 1);
    await engine.activate(fork.id);
    await engine.order(fork.id, "start");
    await engine.until(fork.id, ({ status }) => status === "confirming");
    await engine.order(fork.id, "confirm", { removed: ["two"] });
    expect(tasksWithSession(engine, await untilOver(engine, fork.id))).toEqual(["one"]);
  });

  it("repeats work whose commit the repository has lost", async () => {
    const fork = await engine.fork(origin.id, atPlan);
    const { commit } = origin.workers["one"]!;
    const other = rewritten((event) => JSON.stringify(event).replaceAll(commit!, "0123456789".repeat(4)));
    const after = await continueFork(other, fork);
    expect(tasksWithSession(other, after)).toEqual(["one"]);
    expect(reusedTasks(after)).toEqual(["two"]);
  });

  it("reuses nothing from a removed run", async () => {
    const fork = await engine.fork(origin.id, atPlan);
    await engine.cleanup(origin.id);
    expect(tasksWithSession(engine, await continueFork(engine, fork, { removed: ["two"] }))).toEqual(["one"]);
  });
});

describe("a fork of a partly failed run", () => {
  it(
    "reuses no partial result, no result of a task that the user retries, and no result that it has already",
    async () => {
      const lab = new EngineLab();
      try {
        const engine = lab.open();
        const same = { title: "Once or twice", description: "Do it again" };
        const tasks = [{ id: "part" }, { id: "fails" }, { id: "well", ...same }, { id: "twin", ...same }];
        const failed = { block: done({ status: "failed", error: "cannot" }) };
        const partial = { write: { "a.md": "a" }, block: done({ status: "partial", error: "the rest is missing" }) };
        const agent = lab.scenario([
          ...mainSession(tasks),
          worker("part", partial),
          { match: { role: "worker", task: "fails", attempt: 1 }, turns: [failed] },
          goodWorker,
        ]);
        const id = await lab.begin(engine, agent, { phases, config: { maxWorkers: 1 } });
        await untilOver(engine, id);
        const late = await engine.fork(id);
        const ends = engine.events({ run: id }).filter(({ type }) => type === "worker:completed");
        const beforeTwin = await continueFork(engine, await engine.fork(id, ends[1]!.runSeq));
        expect(beforeTwin.workers["twin"]!.reused).toMatchObject({ run: id, taskId: "twin" });
        const early = await engine.fork(id, placeOf(engine, id, "orchestrator:tasksReady"));
        await engine.order(id, "retry", { taskId: "fails" });
        expect((await untilOver(engine, id)).workers["fails"]).toMatchObject({ status: "completed", attempt: 2 });
        await engine.order(late.id, "retry", { taskId: "fails" });
        const retried = await untilOver(engine, late.id);
        expect(retried.workers["fails"]).toMatchObject({ status: "completed", attempt: 2, reused: null });
        expect(tasksWithSession(engine, retried)).toEqual(["fails"]);
        const again = await continueFork(engine, early);
        expect(tasksWithSession(engine, again)).toEqual(["part"]);
        expect(reusedTasks(again)).toEqual(["fails", "twin", "well"]);
      } finally {
        for (const engine of lab.engines) await engine.close();
        lab.tearDown();
      }
    },
    HANG_MS,
  );
});
