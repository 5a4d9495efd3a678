import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { done, goodWorker, mainSession, worker, type ScriptedTask } from "../lab/scenarios.ts";
import { FakeController } from "../session/fake-controller.ts";
import { ModuleLab, until } from "./module-lab.ts";
import { ScriptedController } from "./scripted-controller.ts";
import { VirtualWorld } from "./virtual-world.ts";
import {
  SharedEngine,
  OrchestratorManager,
  OrchestratorModule,
  ResponseParser,
  SubSessionManager,
  TemplateManager,
  WorkerManager,
  type Controller,
  type EventType,
  type ModuleOptions,
} from "../../src/index.ts";
import { EVENTS } from "../../src/schema/event.ts";
import { createKeeperHost } from "../../src/session/keeper/keeper-host.ts";
import { realWorld } from "../../src/world.ts";

let lab: ModuleLab;
const opened: OrchestratorModule[] = [];
beforeEach(() => {
  lab = new ModuleLab();
});
afterEach(async () => {
  for (const module of opened.splice(0)) await module.close().catch(() => {});
  await lab.close();
});

function open(controller: Controller, options: ModuleOptions = {}): OrchestratorModule {
  const orchestrator = { persistencePath: lab.data, ...options.orchestrator };
  const templatesDir = join(lab.folder, "templates");
  const module = new OrchestratorModule(controller, { templatesDir, ...options, orchestrator });
  opened.push(module);
  return module;
}

const scripted = (tasks: ScriptedTask[], ...sessions: object[]) =>
  lab.scenario([...mainSession(tasks), ...(sessions.length > 0 ? sessions : [goodWorker])]);
const hanging = worker("*", { tools: ["Read"], then: "hang" });
const request = (more: object = {}) => ({ templateId: "_default", cwd: lab.repo, message: "do it", ...more });

/** Records every event of an emitter with its data. */
function hear(emitter: { on(type: EventType, listener: (data: unknown) => void): unknown }): [string, unknown][] {
  const received: [string, unknown][] = [];
  for (const type of Object.keys(EVENTS) as EventType[]) emitter.on(type, (data) => received.push([type, data]));
  return received;
}

describe("OrchestratorModule", () => {
  it("has every manager, each with its own settings, on one engine (D4-439, D4-441, D4-443, D4-444, D4-445, D4-446, D4-447)", () => {
    const module = open("local", {
      parser: { delimiterStart: "[[", delimiterEnd: "]]" },
      worker: { maxWorkers: 3 },
      orchestrator: { pollInterval: 10 },
      subSession: { inactivityThreshold: 7 },
    });
    expect(module.templates).toBeInstanceOf(TemplateManager);
    expect(module.orchestrators).toBeInstanceOf(OrchestratorManager);
    expect(module.workers).toBeInstanceOf(WorkerManager);
    expect(module.parser).toBeInstanceOf(ResponseParser);
    expect(module.subSessions).toBeInstanceOf(SubSessionManager);
    expect(module.parser.delimiterStart).toBe("[[");
    expect(module.workers.config.maxWorkers).toBe(3);
    expect(module.orchestrators.options.pollInterval).toBe(10);
    expect(module.subSessions.config.inactivityThreshold).toBe(7);
    for (const manager of [module.orchestrators, module.workers, module.subSessions])
      expect(manager.sharedEngine).toBe(module.sharedEngine);
    expect(module.orchestrators.templateManager).toBe(module.templates);
    for (const manager of [module.orchestrators, module.workers]) expect(manager.responseParser).toBe(module.parser);
    expect(() => open("local", { worker: { maxWorkers: 0 } })).toThrow(/maxWorkers/);
  });

  it("searches for templates in ./templates by default (D4-440)", () => {
    const module = new OrchestratorModule("local");
    opened.push(module);
    expect(module.templates.templatesDir).toBe(join(process.cwd(), "templates"));
    expect(open("local").templates.templatesDir).toBe(join(lab.folder, "templates"));
  });

  it("initialises templates, the runs of the log and sub-sessions, and leaves nothing open when closed (D4-442)", async () => {
    const first = open(scripted([{ id: "one" }]));
    await first.initialize();
    expect(first.templates.templates.has("documentation")).toBe(true);
    expect(first.subSessions.getStats().isMonitoring).toBe(true);
    const { id } = await first.createAndStart(request());
    await first.close();
    const next = open(scripted([{ id: "one" }]));
    await next.initialize();
    await until(next.orchestrators, id, "confirming");
    await next.orchestrators.cancel(id);
    await next.sharedEngine.engine.settled(id);
    await next.close();
    expect(lab.leftovers()).toEqual([]);
  });

  it("creates and starts a run, and confirms its plan with the user's changes (D4-448, D4-450, E18)", async () => {
    const module = open(scripted([{ id: "one" }, { id: "two" }, { id: "three", dependencies: ["one"] }]));
    const state = await module.createAndStart(request({ customVariables: { STYLE: "short" } }));
    expect(state).toMatchObject({ status: "analyzing", customVariables: { STYLE: "short" } });
    await expect(module.confirmTasksAndSpawn(state.id, {})).rejects.toMatchObject({ code: "wrong_state" });
    await until(module.orchestrators, state.id, "confirming");
    const counts = await module.confirmTasksAndSpawn(state.id, { two: { skip: true }, one: { priority: 9 } });
    expect(counts).toEqual({ workersCreated: 0, tasksQueued: 2, skipped: 1 });
    const done = await until(module.orchestrators, state.id, "completed");
    expect([...done.workers.keys()]).toEqual(["one", "three"]);
    expect(done.tasks[0]).toMatchObject({ id: "one", priority: 9 });
  });

  it("summarises the runs that are not over (D4-449)", async () => {
    const module = open(scripted([{ id: "one" }, { id: "two" }], hanging));
    expect(module.getActiveSummary()).toEqual([]);
    const { id } = await module.createAndStart(request());
    await until(module.orchestrators, id, "confirming");
    const about = { id, templateId: "_default", taskCount: 2 };
    expect(module.getActiveSummary()).toEqual([
      { ...about, status: "confirming", currentPhase: "taskPlanning", activeWorkers: 0 },
    ]);
    await module.confirmTasksAndSpawn(id);
    await module.sharedEngine.engine.until(id, (run) => run.status === "running" && module.workers.activeCount === 2);
    expect(module.getActiveSummary()).toEqual([
      { ...about, status: "running", currentPhase: "workerExecution", activeWorkers: 2 },
    ]);
    await module.orchestrators.cancel(id);
    expect(module.getActiveSummary()).toEqual([]);
  });

  it("cancels a run, unregisters its sub-sessions and cleans up (D4-451)", async () => {
    const module = open(scripted([{ id: "one" }], hanging));
    const { id } = await module.createAndStart(request());
    await until(module.orchestrators, id, "confirming");
    await module.confirmTasksAndSpawn(id);
    await module.sharedEngine.engine.until(id, (run) => run.workers["one"]?.session.turn != null);
    module.subSessions.registerSubSession("child", module.workers.getWorkerByTaskId("one")!.sessionId);
    const result = await module.cancelAndCleanup(id, { removeState: false });
    expect(result).toEqual({
      cancelled: true,
      workers: { archived: 1, deleted: 0, errors: [] },
      archived: true,
    });
    expect(module.subSessions.isSubSession("child")).toBe(false);
    expect(module.orchestrators.get(id)).toMatchObject({ status: "cancelled" });
    const again = await module.cancelAndCleanup(id, { archiveWorkers: false, deleteWorkers: true });
    expect(again).toEqual({ cancelled: false, workers: { archived: 0, deleted: 1, errors: [] }, archived: false });
    expect(module.orchestrators.get(id)).toBeNull();
    await expect(module.cancelAndCleanup(id)).rejects.toMatchObject({ code: "run_not_found" });
  });

  it("emits the events of every manager, once and in order, so that one listener receives all (D4-288, E68)", async () => {
    const module = open(scripted([{ id: "one" }]));
    const all = hear(module);
    const parts = {
      orchestrator: hear(module.orchestrators),
      worker: hear(module.workers),
      subsession: hear(module.subSessions),
      template: hear(module.templates),
    };
    await module.initialize();
    await module.templates.createTemplate({ id: "mine", name: "Mine", extends: "_default" });
    const { id } = await module.createAndStart(request());
    await until(module.orchestrators, id, "confirming");
    module.subSessions.registerSubSession("child", "parent");
    await module.confirmTasksAndSpawn(id);
    await until(module.orchestrators, id, "completed");
    await module.cancelAndCleanup(id, { deleteWorkers: true });
    await module.sharedEngine.engine.flush();
    const count = Object.values(parts).reduce((sum, received) => sum + received.length, 0);
    expect(all).toHaveLength(count);
    for (const [name, received] of Object.entries(parts)) {
      expect(received.length, name).toBeGreaterThan(0);
      const isOfPart = ([type]: [string, unknown]) => received.some(([each]) => each === type);
      expect(all.filter(isOfPart)).toEqual(received);
    }
    const types = new Set(all.map(([type]) => type));
    for (const type of ["orchestrator:created", "worker:completed", "workers:deleted", "subsession:registered"])
      expect(types).toContain(type);
    for (const type of ["template:loaded", "template:created", "subsession:monitoring:started"])
      expect(types).toContain(type);
  });

  it("emits every documented event of orchestrators, workers and sub-sessions (D4-285, D4-286, D4-287)", async () => {
    const reports = { phase: "progress", data: { task_id: "late", status: "in_progress", progress_percent: 30 } };
    const fails = { tools: ["Bash"], block: done({ status: "failed", error: "no luck" }) };
    const controller = new ScriptedController([
      ...mainSession(["good", "bad", "held", "late"].map((id) => ({ id }))),
      { match: { task: "bad", attempt: 1 }, turns: [fails] },
      worker("late", { block: reports, then: "hang" }),
      goodWorker,
    ]);
    controller.hold("held");
    const world = new VirtualWorld();
    const stage = new SharedEngine(controller);
    stage.configure({ world });
    const polled = { pollInterval: 200 };
    const module = open(stage, { orchestrator: polled, worker: { ...polled, spawnDelay: 0, workerTimeout: 200_000 } });
    const all = hear(module);
    const { orchestrators, workers, subSessions } = module;
    const passUntil = (isSo: () => boolean) => expect.poll(() => world.pass(40).then(isSo), { interval: 5 }).toBe(true);
    const has = (task: string, status: string) => () => workers.getWorkerByTaskId(task, id)?.status === status;
    const planned = async () => {
      const run = await module.createAndStart(request());
      await passUntil(() => orchestrators.get(run.id)!.status === "confirming");
      return run.id;
    };
    await module.initialize();
    subSessions.stopMonitoring();

    const id = await planned();
    await module.confirmTasksAndSpawn(id);
    await passUntil(has("bad", "failed"));
    await workers.retryWorker(workers.getWorkerByTaskId("bad")!.sessionId);
    await passUntil(() => ["good", "bad"].every((task) => has(task, "completed")()));
    await passUntil(has("held", "running"));
    const { sessionId } = workers.getWorkerByTaskId("held")!;
    await workers.pauseWorker(sessionId);
    await workers.resumeWorker(sessionId);
    await workers.cancelWorker(sessionId);
    await orchestrators.pause(id);
    await orchestrators.resume(id);
    await world.pass(200_000);
    await passUntil(() => orchestrators.get(id)!.status === "completed");
    await stage.engine.settled(id);
    await module.cancelAndCleanup(id, { removeState: false });
    const failing = await planned();
    const skip = { skip: true };
    await module.confirmTasksAndSpawn(failing, { good: skip, held: skip, late: skip });
    await passUntil(() => orchestrators.get(failing)!.status === "error");
    await orchestrators.cancel((await module.createAndStart(request())).id);

    controller.agent = () => null;
    for (const name of ["parent", "child"]) {
      const session = { id: name, cwd: lab.repo, title: name, messages: [], archived: false, says: {} };
      controller.sessions.set(name, session);
      controller.say(session, "assistant", "Found it.");
    }
    for (const child of ["child", "lost", "broken"]) subSessions.registerSubSession(child, "parent");
    subSessions.recordActivity("child", 1);
    expect(await subSessions.forceReturn("child")).toMatchObject({ success: true });
    await subSessions.unregister("child", { archiveSession: true });
    subSessions.updateStatus("lost", "orphaned");
    subSessions.updateStatus("broken", "error", { error: "no luck" });
    await world.pass(0);
    await stage.engine.flush();
    const told = new Set(all.map(([type]) => type).filter((type) => !type.startsWith("template:")));
    const named = (prefix: string, names: string) => names.split(" ").map((name) => `${prefix}:${name}`);
    const documented = [
      ...named(
        "orchestrator",
        "created started phaseChanged analysisComplete tasksReady progress completed error cancelled paused resumed cleanup",
      ),
      ...named(
        "worker",
        "spawning spawned started progress completed failed timeout cancelled paused resumed retrying",
      ),
      "workers:archived",
      ...named(
        "subsession",
        "registered statusChanged activity resultReturned orphaned error archived unregistered monitoring:started monitoring:stopped",
      ),
    ];
    expect(documented.filter((type) => !told.has(type))).toEqual([]);
  });

  it("accepts hooks and agents of the program by name", async () => {
    const moments: string[] = [];
    const host = createKeeperHost({
      folder: join(lab.folder, "own-sessions"),
      engineFile: join(lab.data, "engine.json"),
      world: realWorld,
    });
    const opens: string[] = [];
    const agent = scripted([{ id: "one" }]);
    const mine = {
      ...host,
      check: () => {},
      open: (spec: Parameters<typeof host.open>[0]) => {
        opens.push(`${spec.role} ${spec.agent}`);
        return host.open({ ...spec, agent });
      },
    };
    const module = open("alias", {
      hooks: { note: ({ type }) => void moments.push(type) },
      agents: { mine, alias: agent },
    });
    lab.template("hooked", {
      hooks: { onWorkerComplete: { run: "note" } },
      phases: { workerExecution: { agent: "mine" } },
    });
    const { id } = await module.createAndStart(request({ templateId: "hooked", config: { autoSpawn: true } }));
    const state = await until(module.orchestrators, id, "completed");
    expect(state).toMatchObject({ agent: "alias", outcome: "success" });
    expect(opens).toEqual(["worker mine"]);
    expect(moments).toEqual(["worker:completed"]);
    await expect(module.createAndStart(request({ agent: "nobody" }))).rejects.toMatchObject({ code: "agent_unknown" });
    await module.cancelAndCleanup(id, { deleteWorkers: true });
    expect(host.hasRun(id)).toBe(false);
  });

  it("works on a session controller, whose own sessions can be each other's sub-sessions", async () => {
    const controller = new FakeController(() => "Done.");
    const module = open(controller);
    const parent = (await controller.startNewSessionWithMessage(lab.repo, "go", { title: "p" })) as {
      sessionId: string;
    };
    const child = (await controller.startNewSessionWithMessage(lab.repo, "look", { title: "c" })) as {
      sessionId: string;
    };
    module.subSessions.registerSubSession(child.sessionId, parent.sessionId);
    expect(await module.subSessions.forceReturn(child.sessionId)).toMatchObject({ success: true, message: "Done." });
    const said = controller.sessions.get(parent.sessionId)!.messages.map(({ content }) => content);
    expect(said).toContain("**[Resultat de sous-tache]**\n\nDone.");
  });
});

describe("the templates of a module", () => {
  it("emit events when they are found, created, changed, deleted or invalid (D4-520, D4-521, D4-522, D4-523, D4-524)", async () => {
    lab.template("broken", { colour: "red" });
    const module = open("local");
    const received = hear(module.templates);
    await module.initialize();
    const found = received.map(([type, data]) => [type, (data as { id?: string }).id]);
    expect(found).toContainEqual(["template:loaded", "_default"]);
    expect(received).toContainEqual(["template:loaded", { id: "_default", isSystem: true, hash: expect.any(String) }]);
    expect(received).toContainEqual([
      "template:error",
      { file: join(module.templates.customDir, "broken.json"), error: expect.stringContaining("colour") },
    ]);
    received.length = 0;
    await module.templates.createTemplate({ id: "mine", name: "Mine", extends: "_default" });
    await module.templates.updateTemplate("mine", { name: "Ours" });
    await module.templates.getAllTemplates();
    await module.templates.deleteTemplate("mine");
    await module.templates.getAllTemplates();
    expect(received).toEqual([
      ["template:created", { id: "mine", name: "Mine", hash: expect.any(String) }],
      ["template:updated", { id: "mine", name: "Ours", hash: expect.any(String) }],
      ["template:deleted", { id: "mine" }],
    ]);
  });

  it("are in the log, and at the next start only changed ones are added (D4-520)", async () => {
    const stored = (module: OrchestratorModule) =>
      module.sharedEngine.engine.events({ run: null }).filter(({ type }) => type.startsWith("template:"));
    lab.template("mine", {});
    const first = open("local");
    await first.initialize();
    await first.sharedEngine.engine.flush();
    const before = stored(first);
    expect(before.filter(({ type }) => type === "template:loaded").length).toBeGreaterThan(5);
    await first.close();
    const second = open("local");
    await second.initialize();
    await second.sharedEngine.engine.flush();
    expect(stored(second)).toEqual(before);
    await second.close();
    lab.template("mine", { description: "other words" });
    const third = open("local");
    await third.initialize();
    await third.sharedEngine.engine.flush();
    expect(stored(third).slice(before.length)).toMatchObject([
      { type: "template:loaded", data: { id: "mine", isSystem: false } },
    ]);
  });
});
