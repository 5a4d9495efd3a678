import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ModuleLab, until, untilWorker } from "./module-lab.ts";
import { ScriptedController } from "./scripted-controller.ts";
import { VirtualWorld } from "./virtual-world.ts";
import { done, goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import { block } from "../session/fake-controller.ts";
import { SharedEngine, ResponseParser, TuttiError, WorkerManager, type Controller } from "../../src/index.ts";
import { createPolledHost } from "../../src/session/polled/polled-host.ts";
import { realWorld } from "../../src/world.ts";

let lab: ModuleLab;

const refusal = { name: "TuttiError", code: "wrong_state" };
const quick = { pollInterval: 5 };
const scripted = (tasks: ScriptedTask[], ...workers: object[]) =>
  new ScriptedController([...mainSession(tasks), ...workers]);
const failing = (task: string) =>
  worker(task, { tools: ["Bash"], block: done({ status: "failed", error: "no luck" }) });
const hanging = (task = "*") => worker(task, { tools: ["Read"], then: "hang" });
/** Both managers on a controller with a short poll interval. */
const open = (controller: Controller, config: ConstructorParameters<typeof WorkerManager>[2] = {}) =>
  lab.managers(controller, quick, { ...quick, spawnDelay: 0, ...config });

describe("WorkerManager", () => {
  beforeEach(() => {
    lab = new ModuleLab();
  });
  afterEach(() => lab.close());

  it("is created from a controller, a parser and settings, whose documented defaults apply to its runs (D4-351, D4-352)", async () => {
    const parser = new ResponseParser();
    const manager = new WorkerManager(null, parser);
    expect(manager.responseParser).toBe(parser);
    expect(manager.config).toEqual({
      maxWorkers: 5,
      pollInterval: 2000,
      workerTimeout: 300_000,
      retryLimit: 2,
      spawnDelay: 500,
      progressDetectionInterval: 30_000,
    });
    expect(() => new WorkerManager(null, parser, { maxWorkers: 0 })).toThrow(TuttiError);
    const { orchestrators, workers } = lab.managers(scripted([{ id: "one" }]));
    expect(workers.sharedEngine.maxWorkers).toBe(5);
    const { template } = await orchestrators.create({ templateId: "_default", cwd: lab.repo, message: "do it" });
    expect(template.config).toMatchObject({
      maxWorkers: 5,
      pollInterval: 2000,
      workerTimeout: 300_000,
      maxRetries: 2,
      spawnDelay: 500,
      progressDetectionInterval: 30_000,
    });
  });

  it("opens an engine in the data folder of the platform unless an option names another (D4-351, D4-325)", async () => {
    vi.stubEnv("TUTTI_DATA_DIR", join(lab.folder, "elsewhere"));
    const alone = new WorkerManager(null, lab.parser);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await alone.sharedEngine.close();
    });
    expect(existsSync(join(lab.folder, "elsewhere"))).toBe(false);
    expect(() => alone.getAllWorkers("orch_none")).toThrow(/Run "orch_none" does not exist/);
    expect(existsSync(join(lab.folder, "elsewhere", "tutti.db"))).toBe(true);
  });

  it("accepts a session host instead of a controller", async () => {
    const host = createPolledHost({
      controller: scripted([{ id: "one" }], goodWorker),
      folder: join(lab.folder, "own-sessions"),
      world: realWorld,
      pollMs: () => 5,
    });
    const { orchestrators, workers } = open(host);
    const id = await lab.work(orchestrators, { agent: "controller" });
    await untilWorker(workers, id, "one", "completed");
    expect(workers.getCompletedWorkers(id)).toHaveLength(1);
    expect(existsSync(join(lab.folder, "own-sessions", id))).toBe(true);
  });

  it("requires a run id if two runs have a task of the same name (E06)", async () => {
    const { orchestrators, workers } = open(scripted([{ id: "one" }], hanging()));
    const ids = [await lab.work(orchestrators), await lab.work(orchestrators)];
    for (const id of ids) await untilWorker(workers, id, "one", "running");
    expect(() => workers.getWorkerByTaskId("one")).toThrow(ids[1]);
    expect(ids.map((id) => workers.getWorkerByTaskId("one", id)!.orchestratorId)).toEqual(ids);
  });

  it("confirms a plan with exactly the tasks of a batch: added, changed or skipped (D4-354)", async () => {
    const { orchestrators, workers } = open(scripted([{ id: "one" }, { id: "two" }], goodWorker));
    const id = await lab.begin(orchestrators);
    const { tasks, template } = await until(orchestrators, id, "confirming");
    const extra = { ...tasks[0]!, id: "extra", title: "More" };
    await expect(workers.spawnWorker(id, tasks[0]!, template, {})).rejects.toThrow(
      /Call spawnBatch to confirm its plan/,
    );
    await expect(workers.spawnBatch(id, tasks, { ...template, id: "another" })).rejects.toMatchObject(refusal);
    const spawned = await workers.spawnBatch(id, [{ ...tasks[0]!, title: "Better" }, extra], template, {});
    expect(spawned.map(({ taskId, task }) => [taskId, task.title])).toEqual([
      ["one", "Better"],
      ["extra", "More"],
    ]);
    for (const task of ["one", "extra"]) await untilWorker(workers, id, task, "completed");
    expect(orchestrators.get(id)!.skipped).toEqual({ two: { satisfied: false } });
    expect(workers.getCompletedWorkers(id)).toHaveLength(2);
  });

  it("starts a worker of the plan, and rejects tasks that are not in it or differ from it (D4-353)", async () => {
    const controller = scripted([{ id: "one" }], goodWorker);
    controller.hold("one");
    const { orchestrators, workers } = open(controller);
    const id = await lab.begin(orchestrators, { customVariables: { STYLE: "plain" } });
    const { tasks, template } = await until(orchestrators, id, "confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    const [task] = tasks as [(typeof tasks)[0]];
    const state = await workers.spawnWorker(id, task, template, { STYLE: "plain", CWD: "/anywhere" });
    expect(state).toMatchObject({ taskId: "one", sessionId: workers._generateSessionId(id, "one") });
    expect(["spawning", "running"]).toContain(state.status);
    const other = { ...task, id: "other" };
    await expect(workers.spawnWorker(id, other, template, {})).rejects.toThrow(/Task "other" is not in the plan/);
    await expect(workers.spawnWorker(id, { ...task, title: "Else" })).rejects.toMatchObject(refusal);
    await expect(workers.spawnWorker(id, task, { ...template, id: "another" })).rejects.toThrow(
      /Its template is "_default"/,
    );
    await expect(workers.spawnWorker(id, task, template, { STYLE: "rich" })).rejects.toThrow(
      /variable STYLE is "plain"/,
    );
    controller.release("one");
    await until(orchestrators, id, "completed");
    await expect(workers.spawnWorker(id, task)).rejects.toMatchObject(refusal);
    expect(workers.getAllWorkers(id)).toHaveLength(1);
  });

  it("queues tasks beyond the limit of all runs and starts them as others end (D4-101, D4-102, D4-103, D4-104, D4-106, D4-108, D4-116, D4-370)", async () => {
    const tasks = ["a", "b", "c"].map((id) => ({ id }));
    const { orchestrators, workers } = open(scripted(tasks, hanging("a"), goodWorker), { maxWorkers: 1 });
    const customVariables = { STYLE: "plain" };
    const id = await lab.work(orchestrators, { config: { maxWorkers: 3 }, customVariables });
    await workers.sharedEngine.engine.until(id, () => workers.activeCount > 0);
    expect(workers.activeCount).toBe(1);
    const [first] = workers.getActiveWorkers(id);
    const { template, tasks: planned } = orchestrators.get(id)!;
    const waiting = planned.filter((task) => task.id !== first!.taskId);
    expect(workers.taskQueue.map(({ orchestratorId, task }) => [orchestratorId, task.id])).toEqual(
      waiting.map((task) => [id, task.id]),
    );
    expect(workers.taskQueue[0]).toMatchObject({ template: { id: "_default" }, variables: customVariables });
    workers.queueTasks(waiting.map((task) => ({ orchestratorId: id, task, template, variables: {} })));
    const stranger = { ...waiting[0]!, id: "stranger" };
    expect(() => workers.queueTasks([{ orchestratorId: id, task: stranger, template, variables: {} }])).toThrow(
      /not in/,
    );
    expect(await workers.processQueue(id, template, {})).toBe(0);
    expect(await workers.spawnWorker(id, waiting[1]!)).toMatchObject({ status: "pending", startedAt: null });
    expect(workers.activeCount).toBe(1);
    let most = 0;
    workers.on("worker:spawned", () => (most = Math.max(most, workers.activeCount)));
    await workers.cancelWorker(first!.sessionId);
    for (const task of ["b", "c"]) await untilWorker(workers, id, task, "completed");
    expect([most, workers.activeCount, workers.taskQueue.length]).toEqual([1, 0, 0]);
    expect(workers.getCompletedWorkers(id)).toHaveLength(2);
  });

  it("confirms the plan with the tasks of `queueTasks` when `processQueue` is called (D4-369, D4-370)", async () => {
    const { orchestrators, workers } = open(scripted([{ id: "one" }, { id: "two" }], hanging()));
    const id = await lab.begin(orchestrators);
    const { tasks, template } = await until(orchestrators, id, "confirming");
    const item = { orchestratorId: id, template, variables: {} };
    const extra = { ...tasks[0]!, id: "extra", title: "More" };
    await expect(workers.processQueue(id)).rejects.toMatchObject(refusal);
    const strange = { ...item, task: extra, variables: { STYLE: "rich" } };
    expect(() => workers.queueTasks([{ ...item, task: tasks[0]! }, strange])).toThrow(/variable STYLE/);
    expect(workers.taskQueue).toEqual([]);
    workers.queueTasks([{ ...item, task: tasks[1]! }]);
    workers.queueTasks([{ ...item, task: extra }]);
    expect(workers.taskQueue).toEqual([
      { ...item, task: tasks[1] },
      { ...item, task: extra },
    ]);
    expect(orchestrators.get(id)!.status).toBe("confirming");
    expect(await workers.processQueue(id, template, {})).toBe(2);
    const begun = workers.getAllWorkers(id).map(({ taskId, task }) => [taskId, task.title]);
    expect(begun).toEqual([
      ["two", "Title of two"],
      ["extra", "More"],
    ]);
    expect(workers.taskQueue).toEqual([]);
  });

  it("starts tasks up to the limit and returns their number, with the delay between them (D4-370, D4-107)", async () => {
    const tasks = ["a", "b", "c"].map((id) => ({ id }));
    const { orchestrators, workers } = open(scripted(tasks, hanging()), { spawnDelay: 60 });
    const ids = [await lab.begin(orchestrators), await lab.begin(orchestrators)];
    for (const id of ids) await until(orchestrators, id, "confirming");
    await expect(workers.processQueue(ids[0]!)).rejects.toMatchObject(refusal);
    await orchestrators.advanceToPhase(ids[0]!, "workerExecution");
    expect(await workers.processQueue(ids[0]!)).toBeGreaterThanOrEqual(2);
    expect(workers.getActiveWorkers(ids[0]!)).toHaveLength(3);
    expect(workers.getAllWorkers(ids[1]!)).toEqual([]);
    const spawned = workers.sharedEngine.engine
      .events({ run: ids[0]! })
      .filter(({ type }) => type === "worker:spawning")
      .map(({ timestamp }) => timestamp);
    const waits = spawned.slice(1).map((at, i) => at - spawned[i]!);
    expect(waits).toHaveLength(2);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(60);
  });

  it("cancels a worker, which frees its slot, and emits the event (D4-355, D4-257)", async () => {
    const controller = scripted([{ id: "one" }, { id: "two" }], hanging("one"), goodWorker);
    const { orchestrators, workers } = open(controller, { maxWorkers: 1 });
    const told: object[] = [];
    workers.on("worker:cancelled", (data) => told.push(data));
    const id = await lab.work(orchestrators);
    const { sessionId } = await untilWorker(workers, id, "one", "running");
    await expect.poll(() => controller.sessions.size).toBe(2);
    expect(workers.getWorkerByTaskId("two")).toBeNull();
    await workers.cancelWorker(sessionId);
    expect(workers.getWorker(sessionId)).toMatchObject({ status: "cancelled", completedAt: expect.any(Date) });
    expect(workers.getActiveWorkers(id).map(({ taskId }) => taskId)).not.toContain("one");
    expect(told).toEqual([{ sessionId, orchestratorId: id, taskId: "one" }]);
    await expect(workers.cancelWorker(sessionId)).rejects.toMatchObject(refusal);
    await expect(workers.cancelWorker("none")).rejects.toMatchObject({ code: "worker_not_found" });
    await until(orchestrators, id, "completed");
    expect(workers.getCompletedWorkers(id).map(({ taskId }) => taskId)).toEqual(["two"]);
    const one = [...controller.sessions.values()].find(({ title }) => title === "[Worker] Title of one");
    expect(one).toMatchObject({ archived: true });
    expect(lab.leftovers()).toEqual([]);
  });

  it("pauses and resumes a worker (D4-356, D4-357, D4-277)", async () => {
    const controller = scripted([{ id: "one" }], goodWorker);
    controller.hold("one");
    const { orchestrators, workers } = open(controller);
    const id = await lab.work(orchestrators);
    const { sessionId } = await untilWorker(workers, id, "one", "running");
    await expect(workers.resumeWorker(sessionId)).rejects.toMatchObject(refusal);
    await workers.pauseWorker(sessionId);
    expect(workers.getWorker(sessionId)).toMatchObject({ status: "paused", pausedAt: expect.any(Date) });
    expect(workers.getAggregatedStats(id).paused).toBe(1);
    await workers.resumeWorker(sessionId);
    expect(workers.getWorker(sessionId)).toMatchObject({ status: "running", pausedAt: null });
    controller.release("one");
    await untilWorker(workers, id, "one", "completed");
  });

  it("retries a failed worker: it is reset, counted and published, and starts again in another session (D4-358, D4-109, D4-112, D4-255, D4-256, D4-276, E12)", async () => {
    const half = block("progress", { task_id: "one", status: "in_progress", progress_percent: 50 });
    const first = {
      match: { role: "worker", task: "one", attempt: 1 },
      turns: [{ say: half, block: done({ status: "failed", error: "no luck" }) }],
    };
    const { orchestrators, workers } = open(scripted([{ id: "one" }], first, goodWorker));
    const told: object[] = [];
    workers.on("worker:retrying", (data) => told.push(data));
    const id = await lab.work(orchestrators);
    const before = await untilWorker(workers, id, "one", "failed");
    await until(orchestrators, id, "error");
    expect(workers.getAllWorkers(id)).toHaveLength(1);
    expect(before).toMatchObject({ progress: 50, error: "no luck", completedAt: expect.any(Date) });
    const reset = await workers.retryWorker(before.sessionId);
    expect(reset).toMatchObject({
      status: "pending",
      progress: 0,
      currentAction: "Retrying...",
      error: null,
      output: null,
      outputFiles: [],
      completedAt: null,
      startedAt: null,
      retryCount: 1,
    });
    expect(told).toMatchObject([{ sessionId: before.sessionId, orchestratorId: id, taskId: "one", retryCount: 1 }]);
    const again = await workers.spawnWorker(id, reset.task);
    expect(again).toMatchObject({ sessionId: `${before.sessionId}_r1`, attempt: 2, retryCount: 1 });
    await untilWorker(workers, id, "one", "completed");
  });

  it("rejects a retry with the documented words (D4-253, D4-254, D4-110, D4-252, E13)", async () => {
    const tasks = [{ id: "bad" }, { id: "busy" }];
    const { orchestrators, workers } = open(scripted(tasks, failing("bad"), hanging()), { retryLimit: 1 });
    const id = await lab.work(orchestrators);
    const { sessionId } = await untilWorker(workers, id, "busy", "running");
    await expect(workers.retryWorker(sessionId)).rejects.toThrow("Cannot retry worker in status: running");
    const first = await untilWorker(workers, id, "bad", "failed");
    await workers.retryWorker(first.sessionId);
    const second = await untilWorker(workers, id, "bad", "failed");
    await expect(workers.retryWorker(second.sessionId)).rejects.toThrow("Worker exceeded retry limit (1)");
    await expect(workers.retryWorker(first.sessionId)).rejects.toMatchObject({ code: "worker_not_found" });
  });

  it("retries nothing by itself, and nothing at all if the template forbids it (D4-111, D4-251, D4-256, E14)", async () => {
    const { orchestrators, workers } = open(scripted([{ id: "bad" }], failing("bad")));
    const id = await lab.work(orchestrators, { config: { retryOnError: false } });
    const { sessionId } = await untilWorker(workers, id, "bad", "failed");
    await until(orchestrators, id, "error");
    expect(workers.getWorker(sessionId)!.retryCount).toBe(0);
    await expect(workers.retryWorker(sessionId)).rejects.toThrow(/retryOnError/);
  });

  it("prefers the limits of the template to those of the manager, and those to the defaults (D4-246, D4-252, E13)", async () => {
    lab.template("patient", { config: { workerTimeout: 600_000, maxRetries: 4 } });
    lab.template("child", { extends: "patient", config: { maxRetries: 3 } });
    const settings = { workerTimeout: 20_000, retryLimit: 1, progressDetectionInterval: 5000 };
    const { orchestrators } = open(scripted([{ id: "one" }]), settings);
    const of = async (templateId: string) =>
      (await orchestrators.create({ templateId, cwd: lab.repo, message: "do it" })).template.config;
    const plain = { workerTimeout: 20_000, maxRetries: 1, progressDetectionInterval: 5000, spawnDelay: 0 };
    expect(await of("_default")).toMatchObject(plain);
    expect(await of("child")).toMatchObject({ ...plain, workerTimeout: 600_000, maxRetries: 3 });
  });

  it("times out a worker, however busy it is, and emits the event (D4-247, D4-249, D4-250, D4-258, D4-091, D4-092, E25)", async () => {
    const working = (progress_percent: number) => ({
      phase: "progress",
      data: { task_id: "one", status: "in_progress", progress_percent },
    });
    const controller = scripted([{ id: "one" }], worker("one", { block: working(30), then: "hang" }));
    const world = new VirtualWorld();
    SharedEngine.of(controller).configure({ world });
    const { orchestrators, workers } = open(controller, { workerTimeout: 10_000, progressDetectionInterval: 1000 });
    const told: object[] = [];
    workers.on("worker:timeout", (data) => told.push(data));
    const progressed: number[] = [];
    workers.on("worker:progress", ({ progress }) => progressed.push(progress));
    const begun = lab.work(orchestrators);
    const now = () => workers.taskToSession.has("one") && workers.getWorkerByTaskId("one")!;
    const sooner = { interval: 5 };
    await expect.poll(() => world.pass(5).then(now), sooner).toMatchObject({ status: "running", progress: 30 });
    const id = await begun;
    const { sessionId, startedAt } = workers.getWorkerByTaskId("one")!;
    await world.pass(startedAt!.getTime() + 9_900 - world.now());
    const { sessions } = controller;
    const own = [...sessions.values()].find(({ title }) => title.startsWith("[Worker]"))!;
    controller.say(own, "assistant", block("progress", working(60).data));
    controller.say(own, "user", "Go on.");
    await world.pass(100);
    await workers.pollWorker(sessionId);
    expect(workers.getWorker(sessionId)).toMatchObject({ status: "running" });
    await world.pass(1);
    await expect.poll(now, sooner).toMatchObject({ status: "timeout" });
    const state = workers.getWorker(sessionId)!;
    expect(state).toMatchObject({ error: "Worker timed out after 10000ms", progress: 60 });
    expect(state.completedAt!.getTime() - startedAt!.getTime()).toBe(10_001);
    expect(told).toMatchObject([{ sessionId, orchestratorId: id, taskId: "one" }]);
    expect(progressed).toContain(30);
    expect([workers.activeCount, workers.getFailedWorkers(id).length]).toEqual([0, 1]);
  });

  it("reports whether a worker has changed since the last poll (D4-361, D4-362)", async () => {
    const { orchestrators, workers } = open(scripted([{ id: "one" }], hanging()));
    const id = await lab.work(orchestrators);
    await workers.sharedEngine.engine.until(id, () => workers.getWorkerByTaskId("one")?.toolStats.total === 1);
    const { sessionId } = workers.getWorkerByTaskId("one")!;
    const [seen] = await workers.pollAllWorkers();
    expect(seen).toMatchObject({ sessionId, hasUpdate: true, state: { status: "running" } });
    expect(await workers.pollWorker(sessionId)).toMatchObject({ hasUpdate: false });
    await workers.cancelWorker(sessionId);
    expect(await workers.pollWorker(sessionId)).toMatchObject({ hasUpdate: true, state: { status: "cancelled" } });
    expect(await workers.pollAllWorkers()).toEqual([]);
    expect(await workers.pollWorker("none")).toMatchObject({
      hasUpdate: false,
      error: 'Worker "none" does not exist. List workers with getAllWorkers().',
    });
  });

  it("deletes the output of workers after ending them, and archives nothing (D4-374, E28)", async () => {
    const script = [...mainSession([{ id: "one" }, { id: "busy" }]), hanging("busy"), goodWorker];
    const { orchestrators, workers } = lab.managers(lab.scenario(script));
    const id = await lab.work(orchestrators);
    await untilWorker(workers, id, "busy", "running");
    const { sessionId } = await untilWorker(workers, id, "one", "completed");
    const { engine, sessions } = workers.sharedEngine;
    expect(await engine.transcript(id, sessionId)).not.toEqual([]);
    await workers.deleteWorkers(id);
    expect(await engine.transcript(id, sessionId)).toEqual([]);
    expect(sessions.isArchived(id, sessionId)).toBe(false);
    expect(orchestrators.get(id)!.status).toBe("cancelled");
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("a WorkerManager of a run with a completed, a failed and an active worker", () => {
  let made: ReturnType<typeof make> | undefined;
  /** One run for all tests, which only read it. It is not created in a hook, so that a run that hangs fails a test. */
  const shared = () => (made ??= make());
  async function make() {
    lab = new ModuleLab();
    const tasks = [{ id: "good" }, { id: "bad" }, { id: "busy" }];
    const progress = {
      status: "in_progress",
      progress_percent: 40,
      current_action: "reading",
      output_preview: "so far",
    };
    const report = { phase: "progress", data: { task_id: "busy", ...progress } };
    const busy = worker("busy", { tools: ["Read"], block: report, then: "hang" });
    const stage = new SharedEngine(scripted(tasks, failing("bad"), busy, goodWorker));
    const { orchestrators, workers } = open(stage);
    const id = await lab.begin(orchestrators);
    await until(orchestrators, id, "confirming");
    const first = workers.getAggregatedStats(id);
    await orchestrators.advanceToPhase(id, "workerExecution");
    await untilWorker(workers, id, "good", "completed");
    await untilWorker(workers, id, "bad", "failed");
    await workers.sharedEngine.engine.until(id, () => {
      const { progress = 0, toolStats } = workers.getWorkerByTaskId("busy", id) ?? {};
      return progress > 0 && toolStats?.total === 1;
    });
    return { stage, orchestrators, workers, id, first };
  }
  afterAll(() => lab.close());

  it("shares the engine of every manager with the same controller (D4-351)", async () => {
    const { stage, orchestrators, workers, id } = await shared();
    expect(workers.sharedEngine).toBe(orchestrators.sharedEngine);
    expect(workers.getAllWorkers(id)).toHaveLength(3);
    expect(() => new WorkerManager(stage, lab.parser, { maxWorkers: 3 })).toThrow(/The engine is already open/);
    expect(new WorkerManager(stage, lab.parser).getAllWorkers(id)).toHaveLength(3);
  });

  it("names a worker's session after the prefix of the template, the run and the task (D4-077, D4-078)", async () => {
    const { workers, id } = await shared();
    const { sessionId } = workers.getWorkerByTaskId("good")!;
    expect(workers._generateSessionId(id, "good")).toBe(sessionId);
    expect(sessionId).toBe(`local___orch_${id.replace("orch_", "")}_worker_good`);
  });

  it("returns workers with every documented member (D4-272, D4-273, D4-274, D4-275, D4-276, D4-277, D4-375, D4-090, D4-100)", async () => {
    const { workers, id } = await shared();
    const state = workers.getWorkerByTaskId("good", id)!;
    expect(state).toMatchObject({
      sessionId: workers._generateSessionId(id, "good"),
      orchestratorId: id,
      taskId: "good",
      task: { id: "good", title: "Title of good", description: "Do good" },
      status: "completed",
      progress: 100,
      toolStats: { total: 2, reads: 1, writes: 1, edits: 0, bash: 0, search: 0, web: 0, task: 0 },
      output: "wrote good",
      outputFiles: ["docs/good.md"],
      error: null,
      retryCount: 0,
      lastPollAt: expect.any(Date),
      startedAt: expect.any(Date),
      completedAt: expect.any(Date),
      pausedAt: null,
    });
    expect(state.startedAt!.getTime()).toBeLessThanOrEqual(state.lastPollAt!.getTime());
    expect(state.lastPollAt!.getTime()).toBeLessThanOrEqual(state.completedAt!.getTime());
    expect(workers.getWorkerByTaskId("bad", id)).toMatchObject({
      status: "failed",
      progress: 0,
      error: "no luck",
      output: null,
      outputFiles: [],
      toolStats: { total: 1, bash: 1 },
    });
    expect(workers.getWorkerByTaskId("busy", id)).toMatchObject({
      status: "running",
      progress: 40,
      currentAction: "reading",
      outputPreview: "so far",
      completedAt: null,
    });
    state.outputFiles.push("not.md");
    expect(workers.getWorker(state.sessionId)!.outputFiles).toEqual(["docs/good.md"]);
    expect(workers.getWorker("local___orch_none_worker_good")).toBeNull();
  });

  it("finds workers by session, task, run and status, also after they have ended (D4-363, D4-364, D4-365, D4-366, D4-367, D4-368, D4-290, D4-291, D4-083, D4-084, D4-085, E27)", async () => {
    const { workers, id } = await shared();
    const named = (list: { taskId: string }[]) => list.map(({ taskId }) => taskId).toSorted();
    expect(named(workers.getAllWorkers(id))).toEqual(["bad", "busy", "good"]);
    expect(named(workers.getActiveWorkers(id))).toEqual(["busy"]);
    expect(named(workers.getCompletedWorkers(id))).toEqual(["good"]);
    expect(named(workers.getFailedWorkers(id))).toEqual(["bad"]);
    const { sessionId } = workers.getWorkerByTaskId("good")!;
    expect(workers.getWorker(sessionId)!.taskId).toBe("good");
    expect(workers.workers.get(sessionId)!.status).toBe("completed");
    expect(workers.taskToSession.get("good")).toBe(sessionId);
    expect(workers.orchestratorWorkers.get(id)).toEqual(new Set(workers.workers.keys()));
    expect([...workers.orchestratorWorkers.get(id)!].toSorted()).toEqual(
      ["bad", "busy", "good"].map((task) => workers._generateSessionId(id, task)),
    );
    expect(workers.getWorkerByTaskId("none")).toBeNull();
  });

  it("counts workers by status and sums up their tools and progress (D4-372, D4-292, D4-293)", async () => {
    const { workers, id, first } = await shared();
    expect(first).toMatchObject({ totalWorkers: 0, averageProgress: 0 });
    expect(workers.getAggregatedStats(id)).toEqual({
      totalWorkers: 3,
      completed: 1,
      failed: 1,
      running: 1,
      pending: 0,
      paused: 0,
      cancelled: 0,
      timeout: 0,
      totalProgress: 140,
      toolStats: expect.objectContaining({
        total: 4,
        reads: 2,
        writes: 1,
        edits: 0,
        bash: 1,
        search: 0,
        web: 0,
        task: 0,
      }),
      averageProgress: 47,
      totalRetries: 0,
      quiet: [],
    });
  });

  it("marks workers that have been quiet for 30 s, and does nothing else (D4-258, D4-259)", async () => {
    const { workers, id } = await shared();
    const { sessionId, lastPollAt } = workers.getWorkerByTaskId("busy")!;
    const quietAfter = (ms: number) => {
      vi.useFakeTimers({ now: lastPollAt!.getTime() + ms, toFake: ["Date"] });
      try {
        return workers.getAggregatedStats(id).quiet;
      } finally {
        vi.useRealTimers();
      }
    };
    expect(quietAfter(29_999)).toEqual([]);
    expect(quietAfter(30_000)).toEqual([sessionId]);
    expect(workers.getWorker(sessionId)!.status).toBe("running");
  });

  it("collects the outputs of the workers (D4-296, D4-371)", async () => {
    const { workers, id } = await shared();
    const outputs = workers.collectOutputs(id).filter(({ status }) => status !== "running");
    expect(outputs.toSorted((a, b) => (a.taskId > b.taskId ? -1 : 1))).toEqual([
      {
        taskId: "good",
        taskTitle: "Title of good",
        status: "completed",
        output: "wrote good",
        outputFiles: ["docs/good.md"],
        error: null,
        toolStats: expect.objectContaining({ total: 2 }),
        completedAt: workers.getWorkerByTaskId("good")!.completedAt,
      },
      expect.objectContaining({ taskId: "bad", status: "failed", error: "no luck", outputFiles: [] }),
    ]);
    expect(workers.collectOutputs(id)).toHaveLength(3);
  });

  it("archives the sessions of workers, which stay readable, and reports those that are alive (D4-114, D4-373)", async () => {
    const { workers, id } = await shared();
    const told: object[] = [];
    workers.on("workers:archived", (data) => told.push(data));
    const { sessionId } = workers.getWorkerByTaskId("good")!;
    const { engine, sessions } = workers.sharedEngine;
    await expect.poll(() => workers.archiveWorkers(id)).toMatchObject({ archived: 2 });
    const { errors } = await workers.archiveWorkers(id);
    expect(errors).toEqual([
      { sessionId: workers._generateSessionId(id, "busy"), error: expect.stringContaining("alive") },
    ]);
    expect(sessions.isArchived(id, sessionId)).toBe(true);
    expect(await engine.transcript(id, sessionId)).toContainEqual(
      expect.objectContaining({ type: "tool", name: "Write" }),
    );
    expect(told.at(-1)).toEqual({ orchestratorId: id, count: 2, errors });
    expect(workers.getActiveWorkers(id).map(({ taskId }) => taskId)).toEqual(["busy"]);
  });
});
