import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ModuleLab, until, untilWorker } from "./module-lab.ts";
import { ScriptedController } from "./scripted-controller.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import {
  ORCHESTRATOR_PHASE,
  ORCHESTRATOR_STATUS,
  OrchestratorManager,
  ResponseParser,
  SharedEngine,
  TuttiError,
} from "../../src/index.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

let lab: ModuleLab;

const refusal = { name: "TuttiError", code: "wrong_state" };
const quick = { pollInterval: 5 };
const twoTasks = () =>
  new ScriptedController([...mainSession([{ id: "one" }, { id: "two", priority: 3 }]), goodWorker]);
const oneTask = () => new ScriptedController([...mainSession([{ id: "one" }]), goodWorker]);
const never = { match: { role: "main" }, turns: [{ tools: ["Read"], then: "hang" }] };
/** The main session never answers by itself. */
const silent = () => new ScriptedController([never, goodWorker]);
/** Both managers on a controller with a short poll interval. */
const openOn = (
  controller: ScriptedController | SharedEngine,
  options: ConstructorParameters<typeof OrchestratorManager>[3] = {},
) =>
  lab.managers(
    controller instanceof SharedEngine ? controller : new SharedEngine(controller),
    { ...quick, ...options },
    { ...quick, spawnDelay: 0 },
  );

describe("OrchestratorManager", () => {
  // One repository for all tests. Each test has its own engine with a log in memory.
  const opened: OrchestratorManager[] = [];
  beforeAll(() => {
    lab = new ModuleLab();
  });
  afterEach(async () => {
    for (const manager of opened.splice(0)) await manager.close();
  });
  afterAll(() => lab.close());
  const open = (controller: ScriptedController | SharedEngine) => {
    const managers = openOn(controller, { persistenceEnabled: false });
    opened.push(managers.orchestrators);
    return managers;
  };

  it("is created from its parts with documented defaults, and rejects invalid options (D4-323, D4-324, E33, E77)", () => {
    const manager = new OrchestratorManager(lab.templates, lab.parser, null);
    expect(manager).toMatchObject({ templateManager: lab.templates, responseParser: lab.parser });
    expect(manager.options).toEqual({ persistenceEnabled: true, saveDebounceMs: 1000, pollInterval: 3000 });
    const make = (options: object) => new OrchestratorManager(lab.templates, new ResponseParser(), null, options);
    expect(() => make({ persistencePath: "data/orchestrators.json" })).toThrow(/persistencePath/);
    expect(() => make({ pollInterval: 0 })).toThrow(TuttiError);
    expect(() => new SharedEngine({} as never)).toThrow(/neither a session controller nor a session host/);
  });

  it("exposes the statuses and phases (D4-349, D4-350, D4-261, D4-262)", () => {
    expect(Object.values(ORCHESTRATOR_STATUS).join(" ")).toBe(
      "created analyzing planning confirming spawning running aggregating verifying completed error cancelled paused",
    );
    expect(Object.values(ORCHESTRATOR_PHASE).join(" ")).toBe(
      "analysis taskPlanning workerExecution aggregation verification",
    );
  });

  it("creates a run from exactly the given request (D4-323, D4-327, D4-260, D4-268)", async () => {
    lab.template("mine", { config: { maxWorkers: 4 } });
    const { orchestrators } = open(twoTasks());
    const customVariables = { OUTPUT_FORMAT: "markdown" };
    const request = { templateId: "_default", cwd: lab.repo, message: "do it" };
    const state = await orchestrators.create({ ...request, customVariables });
    expect(state).toMatchObject({ templateId: "_default", cwd: lab.repo, userRequest: "do it", customVariables });
    expect(state.id).toMatch(/^orch_[a-z0-9]{12}$/);
    expect(state).toMatchObject({ status: "created", currentPhase: null, mainSessionId: null, startedAt: null });
    expect(state.template).toMatchObject({ id: "_default", name: "Default", config: { maxWorkers: 5 } });
    for (const name of ["templateId", "cwd", "message"]) {
      const incomplete = { ...request, [name]: undefined };
      await expect(orchestrators.create(incomplete)).rejects.toThrow(`A run needs "${name}"`);
    }
    expect(orchestrators.getAll()).toEqual([state]);
    const { template } = await orchestrators.create({ ...request, templateId: "mine" });
    expect(template).toMatchObject({ id: "mine", config: { maxWorkers: 4 } });
  });

  it("pauses a run with its workers and resumes it in the same place (D4-329, D4-330, D4-271, E22, E24)", async () => {
    const controller = oneTask();
    controller.hold("one");
    const { orchestrators, workers } = open(controller);
    const request = { templateId: "_default", cwd: lab.repo, message: "do it" };
    const { id } = await orchestrators.create(request);
    await expect(orchestrators.pause(id)).rejects.toMatchObject(refusal);
    await orchestrators.start(id);
    await until(orchestrators, id, "confirming");
    await orchestrators.advanceToPhase(id, "workerExecution");
    await untilWorker(workers, id, "one", "running");
    await orchestrators.sharedEngine.engine.until(id, (run) => run.status === "running");
    const paused = await orchestrators.pause(id);
    expect(paused).toMatchObject({ status: "paused", _previousStatus: "running", _previousPhase: "workerExecution" });
    expect(workers.getWorkerByTaskId("one")!).toMatchObject({ status: "paused", pausedAt: expect.any(Date) });
    const resumed = await orchestrators.resume(id);
    expect(resumed).toMatchObject({ status: "running", _previousStatus: null, currentPhase: "workerExecution" });
    await expect(orchestrators.resume(id)).rejects.toMatchObject(refusal);
    expect(workers.getWorkerByTaskId("one")!).toMatchObject({ status: "running", pausedAt: null });
    controller.release("one");
    await until(orchestrators, id, "completed");
  });

  it("rejects data that is not expected or not valid, and changes nothing (D4-337, D4-338, D4-339)", async () => {
    const { orchestrators } = open(silent());
    const id = await lab.begin(orchestrators);
    await expect(orchestrators.handleAggregationResponse(id, { status: "success" })).rejects.toMatchObject(refusal);
    const half = { summary: "s" } as never;
    await expect(orchestrators.handleAnalysisResponse(id, half)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("recommended_splits"),
    });
    expect(orchestrators.get(id)).toMatchObject({ status: "analyzing", analysis: null });
    await orchestrators.handleAnalysisResponse(id, { summary: "s", recommended_splits: 1 });
    const circle = ["a", "b"].map((own, i, all) => {
      return { id: own, title: own, description: own, dependencies: [all[1 - i]!] };
    });
    await expect(orchestrators.handleTaskListResponse(id, { tasks: circle })).rejects.toMatchObject({
      code: "invalid_plan",
    });
    expect(orchestrators.get(id)).toMatchObject({ status: "planning", tasks: [] });
  });

  it("reopens a run that failed for lack of the supplied data (D4-337)", async () => {
    const mute = { match: { role: "main", phase: "analysis" }, turns: [{ say: "Hm." }] };
    const controller = new ScriptedController([mute, ...mainSession([{ id: "one" }])]);
    const stage = new SharedEngine(controller);
    stage.configure({ settleMs: 1 });
    const { orchestrators } = open(stage);
    const id = await lab.begin(orchestrators);
    await until(orchestrators, id, "error");
    await orchestrators.handleAnalysisResponse(id, { summary: "by hand", recommended_splits: 1 });
    expect(orchestrators.get(id)).toMatchObject({ status: "planning", currentPhase: "taskPlanning" });
    await until(orchestrators, id, "confirming");
    expect(orchestrators.get(id)!.analysis!.summary).toBe("by hand");
  });

  it("advances by starting and confirming, and never skips an answer (D4-336)", async () => {
    const { orchestrators } = open(silent());
    const { id } = await orchestrators.create({ templateId: "_default", cwd: lab.repo, message: "do it" });
    await expect(orchestrators.advanceToPhase(id, "taskPlanning")).rejects.toMatchObject(refusal);
    expect(await orchestrators.advanceToPhase(id, "analysis")).toMatchObject({ status: "analyzing" });
    expect(await orchestrators.advanceToPhase(id, "analysis")).toMatchObject({ status: "analyzing" });
    for (const phase of ["taskPlanning", "workerExecution", "aggregation", "verification"] as const)
      await expect(orchestrators.advanceToPhase(id, phase)).rejects.toMatchObject(refusal);
    expect(orchestrators.get(id)).toMatchObject({ status: "analyzing", currentPhase: "analysis" });
  });

  it("processes a transcript: a block of the assistant counts, a sample in a prompt does not (D4-335)", async () => {
    const { orchestrators } = open(silent());
    const id = await lab.begin(orchestrators);
    const answer = (data: object) =>
      `<<<ORCHESTRATOR_RESPONSE>>>${JSON.stringify({ phase: "analysis", data })}<<<END_ORCHESTRATOR_RESPONSE>>>`;
    const sample = answer({ summary: "sample", recommended_splits: 3 });
    const user = { role: "user", content: sample };
    const notYet = { phaseComplete: false, nextPhase: null };
    expect(await orchestrators.processPhase(id, [user, { role: "assistant", content: "I look." }])).toEqual(notYet);
    const echoed = await orchestrators.processPhase(id, [user, { role: "assistant", content: sample }]);
    expect(echoed).toEqual({ ...notYet, error: expect.stringContaining("None of the blocks counts") });
    const wrong = await orchestrators.processPhase(id, [{ role: "assistant", content: answer({ summary: "x" }) }]);
    expect(wrong).toEqual({ ...notYet, error: expect.stringContaining("recommended_splits") });
    const messages = [user, { role: "assistant", content: answer({ summary: "real", recommended_splits: 1 }) }];
    expect(await orchestrators.processPhase(id, { messages })).toEqual({
      phaseComplete: true,
      nextPhase: "taskPlanning",
    });
    expect(orchestrators.get(id)!.analysis!.summary).toBe("real");
    await expect(orchestrators.processPhase("orch_none", [])).rejects.toMatchObject({ code: "run_not_found" });
  });

  it("returns states, statuses and counts as copies (D4-340, D4-341, D4-342, D4-289, D4-267, D4-270, E30)", async () => {
    const tools = ["Grep", "Glob", "Edit", "Bash", "Task", "Skill"];
    const failing = worker("two", { tools, block: completion("failed") });
    const plan = mainSession([{ id: "one" }, { id: "two" }]);
    const { orchestrators } = open(new ScriptedController([...plan, failing, goodWorker]));
    const id = await lab.work(orchestrators);
    const state = await until(orchestrators, id, "completed");
    expect(orchestrators.getStatus(id)).toEqual({
      id,
      status: "completed",
      currentPhase: state.currentPhase,
      taskCount: 2,
      completedTasks: 1,
      stats: { totalTools: 8, reads: 1, writes: 1, edits: 1, bash: 1, glob: 1, grep: 1, task: 1, other: 1 },
      errors: 0,
      createdAt: state.createdAt,
      updatedAt: state.updatedAt,
      startedAt: state.startedAt,
      completedAt: state.completedAt,
    });
    state.tasks.length = 0;
    orchestrators.getStatus(id)!.stats.reads = 99;
    expect(orchestrators.get(id)).toMatchObject({ tasks: [{ id: "one" }, { id: "two" }], stats: { reads: 1 } });
    expect(orchestrators.get("orch_none")).toBeNull();
    expect(orchestrators.getStatus("orch_none")).toBeNull();
    const { id: other } = await orchestrators.create({ templateId: "_default", cwd: lab.repo, message: "more" });
    expect(orchestrators.getAll()).toEqual([orchestrators.get(id), orchestrators.get(other)]);
    expect([...orchestrators.orchestrators]).toEqual([
      [id, orchestrators.get(id)],
      [other, orchestrators.get(other)],
    ]);
  });

  it("records the errors of a run with their phase and time (D4-270, E70)", async () => {
    const broken = {
      match: { role: "main", phase: "aggregation" },
      turns: [{ block: { phase: "aggregation", data: { status: "failed", error: "they contradict" } } }],
    };
    const plan = mainSession([{ id: "one" }, { id: "two" }]);
    const { orchestrators } = open(new ScriptedController([broken, ...plan, goodWorker]));
    const told: object[] = [];
    orchestrators.on("orchestrator:error", (data) => told.push(data));
    const id = await lab.work(orchestrators);
    const { errors } = await until(orchestrators, id, "error");
    expect(errors).toMatchObject([{ phase: "aggregation", error: "they contradict", timestamp: expect.any(Date) }]);
    expect(told).toMatchObject([{ id, error: "they contradict", fatal: true }]);
    expect(orchestrators.getStatus(id)!.errors).toBe(1);
  });

  it("waits, paused, for a decision of the user, and continues with it (E60)", async () => {
    const asks = {
      match: { role: "main", phase: "aggregation" },
      turns: [
        { block: { phase: "aggregation", data: { status: "needs_input", summary: "Which name?" } } },
        { block: { phase: "aggregation", data: { status: "success" } } },
      ],
    };
    const plan = mainSession([{ id: "one" }, { id: "two" }]);
    const { orchestrators } = open(new ScriptedController([asks, ...plan, goodWorker]));
    const id = await lab.work(orchestrators);
    expect(await until(orchestrators, id, "paused")).toMatchObject({ _previousStatus: "aggregating" });
    await expect(orchestrators.resume(id)).rejects.toMatchObject(refusal);
    await orchestrators.sharedEngine.engine.order(id, "decide", { decisions: [{ index: 0, text: "the first" }] });
    expect((await until(orchestrators, id, "completed")).outcome).toBe("success");
  });

  it("generates the prompt of a phase, system text first (D4-346)", async () => {
    const { orchestrators } = open(twoTasks());
    const template = await lab.templates.getTemplate("_default");
    const prompt = orchestrators.generatePrompt(template, "analysis", { USER_REQUEST: "make it {CWD}", CWD: "/here" });
    expect(prompt).toContain("Request:\nmake it {CWD}");
    expect(prompt).toContain("in /here");
    expect(prompt).toContain("<<<ORCHESTRATOR_RESPONSE>>>");
    expect(prompt.indexOf("You are the main session")).toBeLessThan(prompt.indexOf("Request:"));
  });

  it("builds the tasks of the plan, without skipped ones (D4-347)", async () => {
    const plan = mainSession([{ id: "one" }, { id: "two", dependencies: ["one"], priority: 2 }, { id: "three" }]);
    const { orchestrators } = open(new ScriptedController([...plan, goodWorker]));
    const id = await lab.begin(orchestrators);
    await until(orchestrators, id, "confirming");
    const built = orchestrators.buildWorkerTasks(id);
    expect(built.map(({ taskId }) => taskId)).toEqual(["one", "two", "three"]);
    expect(built[1]).toMatchObject({
      orchestratorId: id,
      dependencies: ["one"],
      priority: 2,
      task: { title: "Title of two" },
    });
    await orchestrators.sharedEngine.engine.order(id, "confirm", { modifications: { three: { skip: true } } });
    expect(orchestrators.buildWorkerTasks(id).map(({ taskId }) => taskId)).toEqual(["one", "two"]);
  });

  it("cleans up according to its options, and lists no archived session (D4-348, D4-118)", async () => {
    lab.template("open", { config: { hideWorkersFromList: false } });
    const { orchestrators, workers } = open(twoTasks());
    const told: object[] = [];
    orchestrators.on("orchestrator:cleanup", (data) => told.push(data));
    const id = await lab.work(orchestrators, { templateId: "open" });
    await until(orchestrators, id, "completed");
    const { sessionId } = workers.getWorkerByTaskId("one")!;
    const listed = async () => new Set((await orchestrators.listSessions()).map(({ taskId }) => taskId));
    expect(await listed()).toEqual(new Set([null, "one", "two"]));
    await orchestrators.cleanup(id, { archiveWorkers: true, removeState: false });
    expect(orchestrators.sharedEngine.sessions.isArchived(id, sessionId)).toBe(true);
    expect(await listed()).toEqual(new Set([null]));
    expect(orchestrators.get(id)).not.toBeNull();
    await orchestrators.cleanup(id, { archiveWorkers: false, deleteWorkers: true, removeState: true });
    expect(orchestrators.get(id)).toBeNull();
    expect(orchestrators.sharedEngine.sessions.hasRun(id)).toBe(false);
    expect(told).toEqual([
      { id, archived: 2, deleted: 0, removed: false },
      { id, archived: 0, deleted: 2, removed: true },
    ]);
  });

  it("leaves the sessions of workers out of the list unless they are requested", async () => {
    const controller = twoTasks();
    for (const task of ["one", "two"]) controller.hold(task);
    const { orchestrators, workers } = open(controller);
    const id = await lab.work(orchestrators);
    await orchestrators.sharedEngine.engine.until(id, () => workers.getActiveWorkers(id).length === 2);
    const titles = async (options = {}) => (await orchestrators.listSessions(options)).map(({ title }) => title);
    expect(await titles()).toEqual(["[Orchestrator] Default"]);
    expect(new Set(await titles({ includeHidden: true }))).toEqual(
      new Set(["[Orchestrator] Default", "[Worker] Title of one", "[Worker] Title of two"]),
    );
  });
});

describe("an OrchestratorManager with its own data folder", () => {
  beforeEach(() => {
    lab = new ModuleLab();
  });
  afterEach(() => lab.close());

  it("completes a run and emits each step under its documented name (D4-328, D4-336, D4-263, D4-264, D4-265, D4-266, D4-269, E69)", async () => {
    const found = {
      summary: "a small project",
      recommended_splits: 2,
      key_files: ["README.md"],
      estimated_complexity: "low",
      components: ["core: all of it"],
      notes: "run the tests",
      warnings: ["no tests"],
    };
    const analysis = { match: { phase: "analysis" }, turns: [{ block: { phase: "analysis", data: found } }] };
    const second = { id: "two", priority: 3, scope: ["docs/two.md"] };
    const plan = mainSession([{ id: "one" }, second]);
    const { orchestrators, workers } = openOn(new ScriptedController([analysis, ...plan, goodWorker]));
    const received: string[] = [];
    orchestrators.on("orchestrator:created", ({ id, templateId }) => received.push(`created ${id} ${templateId}`));
    orchestrators.on("orchestrator:started", ({ phase }) => received.push(`started ${phase}`));
    orchestrators.on("orchestrator:analysisComplete", ({ analysis }) => received.push(`analysed ${analysis.summary}`));
    orchestrators.on("orchestrator:tasksReady", ({ taskCount }) => received.push(`ready ${taskCount}`));
    orchestrators.on("orchestrator:completed", ({ status, outcome }) =>
      received.push(`completed ${status} ${outcome}`),
    );
    workers.on("worker:completed", ({ taskId, outputFiles }) => received.push(`${taskId} ${outputFiles.join()}`));
    orchestrators.stopMonitoring();
    const id = await lab.begin(orchestrators);
    const mainSessionId = `local___orch_${id.replace("orch_", "")}_main`;
    expect(orchestrators.get(id)).toMatchObject({ status: "analyzing", currentPhase: "analysis", mainSessionId });
    const planned = await until(orchestrators, id, "confirming");
    const { recommended_splits: recommendedSplits, key_files: keyFiles, estimated_complexity, ...rest } = found;
    expect(planned.analysis).toEqual({
      ...rest,
      recommendedSplits,
      keyFiles,
      estimatedComplexity: estimated_complexity,
    });
    expect(planned.parallelGroups).toEqual([["one", "two"]]);
    const two = { title: "Title of two", description: "Do two", scope: ["docs/two.md"], priority: 3, dependencies: [] };
    expect(planned.tasks[1]).toEqual({ id: "two", ...two });
    const confirmed = await orchestrators.advanceToPhase(id, "workerExecution");
    expect(confirmed.currentPhase).toBe("workerExecution");
    const state = await until(orchestrators, id, "completed");
    expect(state.workers).toEqual(
      new Map(["one", "two"].map((task) => [task, workers.getWorkerByTaskId(task)!.sessionId])),
    );
    expect(state.createdAt).toBeInstanceOf(Date);
    expect(state.startedAt!.getTime()).toBeGreaterThanOrEqual(state.createdAt.getTime());
    expect(state.completedAt!.getTime()).toBeLessThanOrEqual(state.updatedAt.getTime());
    expect(received.filter((line) => !line.includes("docs/"))).toEqual([
      `created ${id} _default`,
      "started analysis",
      "analysed a small project",
      "ready 2",
      "completed completed success",
    ]);
    expect(received).toEqual(expect.arrayContaining(["one docs/one.md", "two docs/two.md"]));
    expect(lab.leftovers()).toEqual([]);
  });

  it("cancels permanently (D4-331, E23)", async () => {
    const { orchestrators } = lab.managers(lab.scenario([never]));
    const id = await lab.begin(orchestrators);
    expect(await orchestrators.cancel(id)).toMatchObject({ status: "cancelled", outcome: "cancelled" });
    for (const order of ["cancel", "resume", "start", "pause"] as const)
      await expect(orchestrators[order](id)).rejects.toMatchObject(refusal);
    await orchestrators.sharedEngine.engine.settled(id);
    expect(lab.leftovers()).toEqual([]);
  });

  it("accepts an analysis, a plan and an aggregation from a program like from an agent (D4-337, D4-338, D4-339)", async () => {
    const { orchestrators } = openOn(silent());
    const id = await lab.begin(orchestrators);
    const analysis = { summary: "by hand", recommended_splits: 1, key_files: ["README.md"] };
    await orchestrators.handleAnalysisResponse(id, analysis);
    expect(orchestrators.get(id)).toMatchObject({ status: "planning", analysis: { keyFiles: ["README.md"] } });
    const tasks = ["here", "there"].map((id) => ({ id, title: id, description: `Work ${id}` }));
    await orchestrators.handleTaskListResponse(id, { tasks });
    expect(orchestrators.get(id)).toMatchObject({
      status: "confirming",
      tasks: [{ id: "here", dependencies: [] }, {}],
    });
    await orchestrators.advanceToPhase(id, "workerExecution");
    await until(orchestrators, id, "aggregating");
    await orchestrators.handleAggregationResponse(id, { status: "success", summary: "as it is" });
    const state = await until(orchestrators, id, "completed");
    expect(state).toMatchObject({ outcome: "success", aggregation: { summary: "as it is" } });
    expect(lab.git("ls-tree", "-r", "--name-only", `tutti/${id}`)).toContain("docs/there.md");
    expect(lab.leftovers()).toEqual([]);
  });

  it("adds given counts to the statistics of the run, in the log (D4-343, D4-345)", async () => {
    const { orchestrators } = openOn(silent());
    const id = await lab.begin(orchestrators);
    orchestrators.updateStats(id, { reads: 2, grep: 1, other: 1 });
    orchestrators.updateStats(id, { reads: 1, bash: "many" });
    await orchestrators.saveToDisk();
    expect(lab.events().filter(({ type }) => type === "orchestrator:toolsCounted")).toHaveLength(2);
    const stats = { totalTools: 5, reads: 3, bash: 0, grep: 1, other: 1 };
    expect(orchestrators.get(id)!.stats).toMatchObject(stats);
    expect(() => orchestrators.updateStats("orch_none", { reads: 1 })).toThrow(/Run "orch_none" does not exist/);
    await orchestrators.close();
    expect(openOn(silent()).orchestrators.get(id)!.stats).toMatchObject(stats);
  });

  it("keeps runs on disk and continues them in the next process (D4-325, D4-344, E31, E32, E78)", async () => {
    const agent = oneTask();
    const first = openOn(agent).orchestrators;
    expect(await first.loadFromDisk()).toBe(0);
    const id = await lab.begin(first);
    await until(first, id, "confirming");
    await first.pause(id);
    await first.saveToDisk();
    expect(lab.events().at(-1)!.type).toBe("orchestrator:paused");
    await first.close();
    const second = openOn(agent).orchestrators;
    expect(await second.loadFromDisk()).toBe(1);
    expect(second.get(id)).toMatchObject({
      status: "paused",
      _previousStatus: "confirming",
      _previousPhase: "taskPlanning",
    });
    second.startMonitoring();
    await second.resume(id);
    await second.advanceToPhase(id, "workerExecution");
    expect((await until(second, id, "completed")).outcome).toBe("success");
  });

  it("starts from the snapshot of a finished run instead of folding its log again", async () => {
    const agent = oneTask();
    const first = openOn(agent).orchestrators;
    const id = await lab.work(first);
    await until(first, id, "completed");
    await first.close();
    const store = openSqliteStore(join(lab.data, "tutti.db"));
    const snapshot = store.snapshots.load(id)!;
    store.snapshots.save(id, { ...snapshot, state: snapshot.state.replace('"do it"', '"as in the snapshot"') });
    await store.close();
    expect(openOn(agent).orchestrators.get(id)).toMatchObject({
      status: "completed",
      userRequest: "as in the snapshot",
    });
  });

  it("resumes interrupted runs when monitoring starts (D4-332)", async () => {
    const agent = oneTask();
    agent.hold("one");
    const first = openOn(agent).orchestrators;
    const id = await lab.work(first);
    await first.close();
    agent.release("one");
    const second = openOn(agent).orchestrators;
    second.startMonitoring();
    expect((await until(second, id, "completed")).outcome).toBe("success");
  });

  it("keeps nothing without persistence (D4-324)", async () => {
    const agent = twoTasks();
    const first = openOn(agent, { persistenceEnabled: false }).orchestrators;
    const id = await lab.begin(first);
    expect(await first.loadFromDisk()).toBe(1);
    await until(first, id, "confirming");
    await first.close();
    expect(await openOn(agent, { persistenceEnabled: false }).orchestrators.loadFromDisk()).toBe(0);
    expect(await openOn(agent).orchestrators.loadFromDisk()).toBe(0);
  });
});

function completion(status = "success") {
  return { phase: "completion", data: { task_id: "{TASK_ID}", status, error: "it does not work" } };
}
