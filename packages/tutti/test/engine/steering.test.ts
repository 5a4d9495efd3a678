// User commands to a running run, with real sessions, real git and a stored log.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineLab, untilOver } from "./engine-lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { SteeredWorld } from "../lab/steered-world.ts";
import type { Run } from "../../src/schema/run.ts";
import { MemoryStore, newMemoryDisk } from "../../src/store/memory.ts";
import { createGitWorkspaces } from "../../src/workspace/git-workspaces.ts";

let lab: EngineLab;
beforeEach(() => {
  lab = new EngineLab();
});
afterEach(async () => {
  for (const engine of lab.engines) await engine.close();
  lab.tearDown();
});

const types = (store: MemoryStore) => store.read({}).map(({ type }) => type);
const running = (taskId: string) => (run: Run) =>
  run.workers[taskId]?.status === "running" && run.workers[taskId].session.turn !== null;

/** A worker whose turn takes an hour, also when it is repeated after a pause. */
const slow = (task: string) => worker(task, { tools: ["Read"], delayMs: 3_600_000, block: done({}) });

describe("a pause", () => {
  it("interrupts the agent, keeps its session, and sends the same task again at the resume (D4-329, D4-330, D4-356, D4-357/E24)", async () => {
    const store = new MemoryStore();
    const engine = lab.open(store);
    const polite = worker(
      "one",
      { tools: ["Read"], write: { "half.md": "half" }, then: "hang" },
      { write: { "whole.md": "whole" }, block: done({}) },
    );
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), polite]), {
      config: { autoSpawn: true },
    });
    await engine.until(id, running("one"));
    const { sessionId } = engine.get(id)!.workers["one"]!;
    await engine.order(id, "pause");
    await engine.until(id, (run) => run.workers["one"]!.session.turn === null);
    expect(engine.get(id)).toMatchObject({ status: "paused" });
    expect(engine.get(id)!.workers["one"]).toMatchObject({ status: "paused", sessionId });
    await engine.order(id, "resume");
    await engine.until(id, running("one"));
    const prompts = async () => (await engine.transcript(id, sessionId)).filter(({ type }) => type === "prompt");
    while ((await prompts()).length < 2) await sleep(20);
    expect(engine.get(id)!.workers["one"]!.session).toMatchObject({ turns: 2, sessionId });
    expect(JSON.stringify(await prompts())).toContain("You were paused in the middle of this");
    await engine.order(id, "cancel");
    await untilOver(engine, id);
    expect(types(store)).toEqual(expect.arrayContaining(["orchestrator:paused", "worker:paused", "worker:resumed"]));
    expect(lab.leftovers()).toEqual([]);
  });

  it("during the preparation of a turn delays its delivery until the resume", async () => {
    const real = createGitWorkspaces({ folder: join(lab.data, "worktrees") });
    const slowly = Promise.withResolvers<void>();
    const workspaces = {
      ...real,
      move: async (...args: Parameters<typeof real.move>) => slowly.promise.then(() => real.move(...args)),
    };
    const engine = lab.open(new MemoryStore(), { workspaces });
    const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    const { main } = await engine.until(id, (run) => run.status === "aggregating" && run.main?.turn != null);
    const prompts = async () =>
      (await engine.transcript(id, main!.sessionId)).filter(({ type }) => type === "prompt").length;
    await engine.order(id, "pause");
    slowly.resolve();
    await sleep(1000);
    expect([engine.get(id)!.status, await prompts()]).toEqual(["paused", 2]);
    await engine.order(id, "resume");
    expect((await untilOver(engine, id)).outcome).toBe("success");
    expect(await prompts()).toBe(3);
  });

  it("of one worker does not stop the others and survives a restart of the engine", async () => {
    const disk = newMemoryDisk();
    const engine = lab.open(new MemoryStore(disk));
    const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), slow("one"), goodWorker]);
    const id = await lab.begin(engine, agent, { config: { autoSpawn: true } });
    await engine.until(id, running("one"));
    await engine.pauseWorker(id, engine.get(id)!.workers["one"]!.sessionId);
    await engine.until(id, (run) => run.workers["two"]?.merged === "merged");
    await engine.close({ leaveRunning: true });
    const next = lab.open(new MemoryStore(disk));
    await next.activate(id);
    expect(next.get(id)!.workers["one"]!.status).toBe("paused");
    await next.cancelWorker(id, next.get(id)!.workers["one"]!.sessionId);
    const run = await untilOver(next, id);
    expect(await next.result(id)).toMatchObject({ outcome: "degraded", census: { completed: 1, cancelled: 1 } });
    expect(run.released).toBe(true);
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("a retry", () => {
  it("reopens a finished run and merges the missing task (D4-358/E12)", async () => {
    const engine = lab.open();
    const flaky = [
      {
        match: { role: "worker", task: "one", attempt: 1 },
        turns: [{ block: done({ status: "failed", error: "no luck" }) }],
      },
      goodWorker,
    ];
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), ...flaky]), {
      config: { autoSpawn: true },
    });
    await untilOver(engine, id);
    expect(await engine.result(id)).toMatchObject({
      outcome: "degraded",
      causes: [{ taskId: "one", reason: "no luck" }],
    });
    const first = engine.get(id)!.head;
    await engine.order(id, "retry", { taskId: "one" });
    await engine.until(id, (run) => run.status === "completed" && run.released && run.head !== first);
    expect(await engine.result(id)).toMatchObject({
      outcome: "success",
      census: { planned: 2, completed: 2 },
      outputFiles: ["docs/one.md", "docs/two.md"],
    });
    expect(engine.get(id)!.workers["one"]!.sessionId).toMatch(/_r1$/);
    expect(lab.leftovers()).toEqual([]);
  });

  it("is automatic with `autoRetry`, after `retryDelay` (D4-586)", async () => {
    const engine = lab.open();
    const flaky = [{ match: { role: "worker", task: "one", attempt: 1 }, turns: [{ then: "crash" }] }, goodWorker];
    const config = { autoSpawn: true, autoRetry: true, retryDelay: 200 };
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), ...flaky]), { config });
    const run = await untilOver(engine, id);
    expect(run.workers["one"]).toMatchObject({ status: "completed", retryCount: 1, attempt: 2 });
    expect(run.outcome).toBe("success");
  });
});

describe("a budget", () => {
  it("that is exhausted during a turn pauses the run at once, and an answer resumes it", async () => {
    const engine = lab.open();
    const dear = worker("one", {
      tools: ["Read"],
      write: { "one.md": "1" },
      usage: { inputTokens: 1, outputTokens: 1, usd: 3 },
      then: "hang",
    });
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), dear]), {
      budget: { usd: 2 },
      config: { autoSpawn: true },
    });
    const paused = await engine.until(id, (run) => run.status === "paused");
    const [item] = Object.values(paused.inbox);
    expect(item).toMatchObject({ kind: "budget", evidence: { kind: "usd", limit: 2 } });
    await engine.until(id, (run) => run.workers["one"]!.session.turn === null);
    await engine.answer(item!.id, { data: { usd: 100 } });
    await engine.until(id, running("one"));
    expect(engine.get(id)!.budget.usd).toBe(100);
    await engine.order(id, "cancel");
    await untilOver(engine, id);
  });
});

describe("the usage of a turn", () => {
  it("counts even if the turn is never judged, so that repeated attempts cannot exceed the budget", async () => {
    const world = new SteeredWorld();
    const engine = lab.open(new MemoryStore(), { world });
    const usage = { inputTokens: 1, outputTokens: 1, usd: 0.6 };
    const hanging = worker("one", { tools: ["Read"], usage, then: "hang" });
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), hanging]), {
      budget: { usd: 1 },
      config: { autoSpawn: true, workerTimeout: 900_000, autoRetry: true, retryDelay: 0, maxRetries: 5 },
    });
    const { workers } = await engine.until(id, running("one"));
    // The first attempt times out only after its usage was read.
    const transcript = () => engine.transcript(id, workers["one"]!.sessionId);
    await expect.poll(transcript).toContainEqual(expect.objectContaining({ type: "usage" }));
    await world.pass(900_000);
    const run = await engine.until(id, ({ status }) => status === "paused");
    expect(run.pausedFrom).toMatchObject({ reason: "budget" });
    expect(run.workers["one"]!.attempt).toBe(2);
    await engine.order(id, "cancel");
    await untilOver(engine, id);
    expect(engine.get(id)!.usage.usd).toBeCloseTo(1.2);
  });

  it("is not counted again when an engine adopts the session", async () => {
    const disk = newMemoryDisk();
    const engine = lab.open(new MemoryStore(disk));
    const [analysis] = mainSession([]) as { turns: object[] }[];
    const usage = { inputTokens: 1, outputTokens: 1, usd: 0.6 };
    const agent = lab.scenario([
      { ...analysis, turns: [{ ...analysis!.turns[0], usage }] },
      { match: { role: "main", phase: "task_list" }, turns: [{ tools: ["Read"], then: "hang" }] },
    ]);
    const id = await lab.begin(engine, agent, { budget: { usd: 1 } });
    await engine.until(id, ({ status, main }) => status === "planning" && main?.turn !== null);
    await engine.close({ leaveRunning: true });
    const next = lab.open(new MemoryStore(disk));
    await next.activate(id);
    await sleep(1500);
    expect(next.get(id)).toMatchObject({ status: "planning", usage: { usd: 0.6 } });
    await next.order(id, "cancel");
    await untilOver(next, id);
  });
});

describe("a worker that waited for the user", () => {
  it("gets its full idle time again with the answer", async () => {
    const world = new SteeredWorld();
    const engine = lab.open(new MemoryStore(), { world });
    const asking = worker(
      "one",
      { tools: ["Read"], then: "ask:Which?" },
      { delayMs: 200, write: { "a.md": "a" }, block: done({}) },
    );
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), asking]), {
      config: { autoSpawn: true, idleTimeout: 900_000 },
    });
    const { inbox } = await engine.until(id, (run) => Object.values(run.inbox).some(({ kind }) => kind === "question"));
    await world.pass(1_800_000);
    await engine.answer(Object.keys(inbox)[0]!, { text: "this" });
    expect((await untilOver(engine, id)).workers["one"]!.status).toBe("completed");
  });
});

describe("decisions", () => {
  it("of a merge are asked from the user, and the main session merges with the answers (E60)", async () => {
    const engine = lab.open();
    const [analysis, plan] = mainSession([{ id: "one" }, { id: "two" }]) as [object, object];
    const merging = {
      match: { role: "main", phase: "aggregation" },
      turns: [
        {
          block: {
            phase: "aggregation",
            data: {
              status: "needs_input",
              conflicts: [{ type: "naming", description: "Which?", options: ["a", "b"] }],
            },
          },
        },
        { write: { "merged.md": "b" }, block: { phase: "aggregation", data: { status: "success" } } },
      ],
    };
    const id = await lab.begin(engine, lab.scenario([analysis, plan, merging, goodWorker]), {
      config: { autoSpawn: true },
    });
    await engine.until(id, (run) => run.status === "paused");
    await engine.order(id, "decide", { decisions: [{ index: 0, option: 1 }] });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect((await engine.result(id)).outputFiles).toContain("merged.md");
    const told = (await engine.transcript(id, run.mainSessionId!)).filter(({ type }) => type === "prompt").at(-1);
    expect(JSON.stringify(told)).toContain("Which?\\n  b");
  });

  it("are not needed for an unknown status: the main session is asked again, and only then the user", async () => {
    const [analysis, plan] = mainSession([{ id: "one" }, { id: "two" }]) as [object, object];
    const merge = (...statuses: string[]) => ({
      match: { role: "main", phase: "aggregation" },
      turns: statuses.map((status) => ({ block: { phase: "aggregation", data: { status, summary: "it fits" } } })),
    });
    const begin = (merging: object) =>
      lab.begin(engine, lab.scenario([analysis, plan, merging, goodWorker]), { config: { autoSpawn: true } });
    const engine = lab.open();
    const corrected = await begin(merge("mostly", "success"));
    expect((await untilOver(engine, corrected)).outcome).toBe("success");
    const [problem] = engine
      .events({ run: corrected })
      .flatMap((event) => (event.type === "turn:ended" ? event.data.problems.slice(-1) : []));
    expect(problem).toContain('it is "mostly"');
    const stubborn = await begin(merge("mostly"));
    const { inbox } = await engine.until(stubborn, (run) => run.status === "paused");
    expect(Object.values(inbox)).toMatchObject([
      { kind: "decision", question: "Unknown aggregation status, read as needs_input: mostly. it fits" },
    ]);
    const turns = engine.events({ run: stubborn }).filter(({ type }) => type === "turn:ended");
    // The analysis, the plan, two workers, and three tries of the aggregation.
    expect(turns).toHaveLength(7);
  });

  it.each([
    ["first-wins", "written by one\n"],
    ["last-wins", "written by two\n"],
  ] as const)(
    "about conflicts follow the template's %s, and the run succeeds (D4-314, D4-315, D4-588/E61)",
    async (conflictResolution, kept) => {
      const engine = lab.open();
      const both = (task: string) => worker(task, { write: { "same.md": `written by ${task}\n` }, block: done({}) });
      const agent = lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), both("one"), both("two")]);
      const id = await lab.begin(engine, agent, {
        config: { autoSpawn: true, parallelExecution: false },
        phases: { aggregation: { conflictResolution } },
      });
      const run = await untilOver(engine, id);
      expect(run.outcome).toBe("success");
      expect(run.conflicts).toMatchObject([
        { files: ["same.md"], tasks: ["one", "two"], resolution: conflictResolution },
      ]);
      expect(lab.git("show", `${run.head}:same.md`)).toBe(kept.trim());
    },
  );
});

describe("a phase with another agent", () => {
  it("runs with that agent in its role, and the run has one result", async () => {
    const engine = lab.open();
    const reviewer = lab.scenario(
      [
        {
          match: { role: "reviewer", phase: "verification" },
          turns: [{ write: { "reviewed.md": "ok" }, block: { phase: "verification", data: { status: "passed" } } }],
        },
      ],
      "reviewer.json",
    );
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), goodWorker]), {
      config: { autoSpawn: true },
      phases: { verification: { enabled: true, agent: reviewer, role: "reviewer" } },
    });
    const run = await untilOver(engine, id);
    expect(run.outcome).toBe("success");
    expect((await engine.result(id)).outputFiles).toEqual(["docs/one.md", "reviewed.md"]);
    expect(run.main).toMatchObject({ role: "reviewer", agent: reviewer });
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("an answer", () => {
  it("may be a last line from the template's completion markers, for success and for failure", async () => {
    const engine = lab.open();
    const said = (task: string, mark: string) => worker(task, { tools: ["Read"], say: `All I could do.\n${mark}` });
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two" }]),
      said("one", "<<<TASK_COMPLETE>>>"),
      said("two", "<<<TASK_FAILED>>>"),
    ]);
    const id = await lab.begin(engine, agent, {
      config: { autoSpawn: true },
      phases: { workerExecution: { completionMarkers: ["<<<TASK_COMPLETE>>>", "<<<TASK_FAILED>>>"] } },
    });
    const run = await untilOver(engine, id);
    expect(run.workers["one"]).toMatchObject({ status: "completed", output: "All I could do." });
    expect(run.workers["two"]).toMatchObject({ status: "failed", error: "All I could do." });
  });
});

describe("`cleanup`", () => {
  it("cancels the run, archives its workers' sessions and removes it from the lists; its branch stays (D4-114, D4-118, D4-348, D4-496, D4-508/E28, E65)", async () => {
    const store = new MemoryStore();
    const engine = lab.open(store);
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), goodWorker]), {
      config: { autoSpawn: true },
    });
    const { head, workers } = await untilOver(engine, id);
    const received: [string, object][] = [];
    engine.subscribe(({ type, data }) => received.push([type, data]));
    const cleanUp = async (options: object) => {
      received.length = 0;
      return engine.cleanup(id, options);
    };
    const kept = { archived: 0, deleted: 0, removed: false };
    expect(await cleanUp({ archiveWorkers: false, removeState: false })).toMatchObject(kept);
    expect(received).toEqual([["orchestrator:cleanup", { id, ...kept }]]);
    expect(await cleanUp({ removeState: false })).toMatchObject({ ...kept, archived: 1 });
    expect(received).toEqual([
      ["workers:archived", { orchestratorId: id, count: 1, errors: [] }],
      ["orchestrator:cleanup", { id, ...kept, archived: 1 }],
    ]);
    expect((await engine.transcript(id, workers["one"]!.sessionId)).length).toBeGreaterThan(0);
    const before = store.read({}).length;
    await cleanUp({ deleteWorkers: true });
    expect(received.find(([type]) => type === "orchestrator:cleanup")![1]).toEqual({
      id,
      archived: 1,
      deleted: 1,
      removed: true,
    });
    expect(engine.get(id)).toBeNull();
    expect(existsSync(join(lab.data, "sessions", id))).toBe(false);
    expect(store.read({}).slice(0, before)).toMatchObject(
      Array.from({ length: before }, (_, i) => ({ seq: i + 1, type: "log:removed" })),
    );
    expect(lab.git("rev-parse", `tutti/${id}`)).toBe(head);
  });

  it("first ends sessions that still run", async () => {
    const engine = lab.open();
    const id = await lab.begin(engine, lab.scenario([...mainSession([{ id: "one" }]), slow("one")]), {
      config: { autoSpawn: true },
    });
    await engine.until(id, running("one"));
    await engine.cleanup(id, { removeState: false });
    expect(engine.get(id)).toMatchObject({ status: "cancelled", released: true });
    expect(lab.leftovers()).toEqual([]);
  });
});
